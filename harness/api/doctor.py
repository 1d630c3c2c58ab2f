"""The capabilities of this machine, their consequences, and a remedy for each problem."""

import os
import shutil
import sys
from collections.abc import Iterator
from importlib.util import cache_from_source, find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from harness.api.finding import BAD, GOOD, WARNING, Finding
from harness.errors import UserError
from harness.extras import install, install_for_gpu, lacking
from harness.worker.runtimes import RUNTIMES, Runtime, version_of

if TYPE_CHECKING:
    from harness.sandbox import Gpu, Kind, Staging

#: Time limit of a trial, in seconds.
TRIAL_S = 60.0


def doctor(executor: str = "local", parameters: dict[str, str | None] | None = None) -> Iterator[Finding]:
    """Yield findings on this machine or, for another executor, on the machines of its cluster."""
    if executor != "local":
        from harness.api.doctor_cluster import findings

        yield from findings(executor, parameters or {})
        return
    parts = {"software": _software, "machine": _machine, "sandbox": _sandbox, "other sandboxes": _other}
    for name, part in parts.items():
        try:
            yield from part()
        except (UserError, ModuleNotFoundError) as error:
            yield Finding(BAD, name, "does not work", lacking(error) or str(error))


def _software() -> Iterator[Finding]:
    from harness.execution.machine import describe_machine

    yield Finding(GOOD, "Python", ".".join(map(str, sys.version_info[:3])), "")
    for name, runtime in RUNTIMES.items():
        if missing := runtime.missing():
            yield Finding(WARNING, f"runtime {name}", f"not installed: {', '.join(missing)}", install(runtime.extra))
        else:
            versions = ", ".join(f"{package} {version_of(package)}" for package in runtime.distributions)
            yield Finding(GOOD, f"runtime {name}", versions, runtime.summary)
            yield from _bytecode(runtime)
    if not _installed():
        yield Finding(BAD, "runtimes", "none", f"one is needed: {install('tensorflow')}")
    yield Finding(GOOD, "kernel", describe_machine()["kernel"], "")


def _bytecode(runtime: Runtime) -> Iterator[Finding]:
    """Yield a warning if the framework is not compiled, as after an installation by uv: workers write no bytecode."""
    spec = find_spec(runtime.framework)
    if spec is not None and spec.origin and not Path(cache_from_source(spec.origin)).exists():
        remedy = f"{sys.executable} -m compileall -q -j 0 {Path(spec.origin).parents[1]}"
        yield Finding(WARNING, "  bytecode", "missing: workers take longer to start, every time", remedy)


def _machine() -> Iterator[Finding]:
    from harness.cache import cache_directory
    from harness.configuration import GIB
    from harness.execution.machine import plan_lanes
    from harness.machine_memory import usable_memory
    from harness.sandbox import default_memory_bytes, find_gpus, gpu_nodes

    gpus = find_gpus()
    if gpus:
        yield Finding(GOOD, "GPUs", ", ".join(gpu.model for gpu in gpus), "one call per GPU at a time")
        yield _driver_library()
        if absent := sorted({node for gpu in gpus for node in gpu_nodes(gpu) if not Path(node).exists()}):
            remedy = "the driver creates them when it is first used: nvidia-modprobe -u -c 0"
            yield Finding(WARNING, "GPU device nodes", f"missing: {', '.join(absent)}", remedy)
    elif Path("/dev/nvidiactl").exists():
        found = "device nodes, but no GPU in /proc/driver/nvidia/gpus"
        yield Finding(
            WARNING, "GPUs", found, "models run on the processor; in a container, have the engine show that directory"
        )
    else:
        yield Finding(WARNING, "GPUs", "none", f"models run on the processor; if there is a GPU: {install('gpu')}")
    limit = default_memory_bytes(len(gpus))
    lanes = plan_lanes(None, limit)
    memory = usable_memory()
    follows = f"{lanes.workers} calls at once, {limit / GIB:g} GiB each (--workers, --memory)"
    state = GOOD if memory.available > limit else WARNING
    yield Finding(
        state,
        "memory",
        f"{memory.available / GIB:.1f} of {memory.whose} {memory.total / GIB:.1f} GiB free, {lanes.cores} cores",
        follows,
    )
    for name, path in (("working directory", Path.cwd()), ("cache", cache_directory("staged").parent)):
        free = shutil.disk_usage(path).free / GIB
        remedy = "" if free > 1 else "under 1 GiB: free some space, or set PGDL_CACHE to another disk"
        yield Finding(GOOD if free > 1 else WARNING, f"disk ({name})", f"{free:.1f} GiB free at {path}", remedy)


def _sandbox() -> Iterator[Finding]:
    from harness.sandbox import Fast, Landlock, becomes_others, not_linux

    if (elsewhere := not_linux()) is not None:
        yield Finding(BAD, "sandbox", "not on this system", str(elsewhere))
        warning = "tasks and submissions are read without the limit that Linux sets: only open those that you trust"
        yield Finding(WARNING, "memory", "not limited here", warning)
        return
    warnings: list[str] = []
    best, second = Fast(instead=warnings.append), Landlock()
    problem, weaker = best.problem(), second.problem()
    who = "root, which starts every call as another user" if becomes_others() else "an ordinary user"
    if os.geteuid() == 0 and not becomes_others():
        who = "root without the capabilities to start calls as other users"
    if problem is None:
        yield Finding(
            GOOD, "sandbox", f"bubblewrap at {shutil.which('bwrap')}, as {who}", "tried now with small submissions:"
        )
        yield _memory_limit()
        yield from _self_test(best, warnings)
        if weaker is None:
            yield Finding(
                GOOD, "sandbox by Landlock", "would work, too", "--sandbox landlock; auto does not need it here"
            )
        else:
            yield Finding(WARNING, "sandbox by Landlock", "would not work; not needed here", str(weaker))
    elif weaker is None:
        yield Finding(WARNING, "sandbox by bubblewrap", "does not work", str(problem))
        yield Finding(WARNING, "sandbox", f"Landlock, as {who}; it promises less:", "")
        for guarantee in second.missing:
            yield Finding(WARNING, "  not promised", guarantee, "")
        yield from _self_test(second, warnings)
    else:
        yield Finding(BAD, "sandbox", "does not work", str(problem))
        yield Finding(BAD, "sandbox by Landlock", "does not work, either", str(weaker))


def _self_test(kind: "Kind", warnings: list[str]) -> Iterator[Finding]:
    """Try a kind of sandbox; `warnings` are the warnings that the kind has issued."""
    from harness.execution.machine import plan_lanes
    from harness.sandbox import CONTROL, Staging, default_memory_bytes, find_gpus, run_traps, trial_job

    gpu = next(iter(find_gpus()), None)
    if not _installed():
        yield Finding(WARNING, "  self-test", "not possible without a runtime", "")
        return
    with Staging() as staging, kind:
        try:
            kind.prepare([trial_job(staging, CONTROL, runtime=runtime, gpu=gpu) for runtime in _installed()])
        except UserError as error:
            yield Finding(BAD, "  self-test", "does not start", str(error))
            return
        if warnings:
            yield Finding(WARNING, "  fast starts", "do not work", warnings[0])
        else:
            yield Finding(GOOD, "  fast starts", "a call starts in a fraction of a second", "")
        if gpu is not None:
            yield from _devices(kind, staging, gpu)
        workers = plan_lanes(None, default_memory_bytes(0)).workers
        for trap, result in run_traps(kind.start, staging, workers, _installed()[0]):
            if trap.caught(result):
                yield Finding(GOOD, "  self-test", trap.name, "")
            else:
                found = f"expected {trap.outcome}, found {result.outcome}: {result.message or result.value}"
                yield Finding(BAD, "  self-test", trap.name, f"{found}; do not run other people's code here")


def _devices(kind: "Kind", staging: "Staging", gpu: "Gpu") -> Iterator[Finding]:
    """Try in the sandbox whether each runtime uses the GPU."""
    from harness.sandbox import CONTROL, run_trial, trial_job

    for name in _installed():
        result = run_trial(kind.start, trial_job(staging, CONTROL, runtime=name, gpu=gpu), 0, TRIAL_S)
        device = result.environment.get("device")
        if device == "cpu":
            remedy = f"install a build with CUDA: {install_for_gpu(RUNTIMES[name].gpu_install)}"
            yield Finding(WARNING, f"  {name} and the GPU", "runs on the processor", remedy)
        elif device is None:
            yield Finding(WARNING, f"  {name} and the GPU", "no answer", f"{result.outcome}: {result.message}")
        else:
            yield Finding(GOOD, f"  {name} and the GPU", f"runs on it: {device}", "")


def _driver_library() -> Finding:
    from harness.sandbox import driver_library

    found = driver_library()
    if found is None:
        remedy = "install the driver's libraries, or name their directory in LD_LIBRARY_PATH"
        return Finding(WARNING, "GPU driver", "libcuda.so.1: not found; models run on the processor", remedy)
    return Finding(GOOD, "GPU driver", str(found), "")


def _installed() -> list[str]:
    return [name for name, runtime in RUNTIMES.items() if not runtime.missing()]


def _memory_limit() -> Finding:
    from harness.sandbox import cgroup_problem

    problem = cgroup_problem()
    if problem is None:
        return Finding(GOOD, "  memory limit", "enforced by the kernel: every call has a control group", "")
    delegated = f"systemd-run {'' if os.geteuid() == 0 else '--user '}--scope -p Delegate=yes pgdl ..."
    remedy = f"only a control group counts that; with systemd and cgroup v2: {delegated} (found: {problem})"
    enforced = "enforced by the memory watch, twenty times a second; the kernel's own memory for a call is not counted"
    return Finding(WARNING, "  memory limit", enforced, remedy)


def _other() -> Iterator[Finding]:
    """Yield findings on the kinds of sandbox that `auto` never chooses."""
    from harness.sandbox import KINDS

    for name, kind in KINDS.items():
        if kind.is_sandbox and kind.auto is None:
            problem = kind().problem()
            if problem is None:
                yield Finding(GOOD, f"sandbox {name}", f"would work: {kind.summary} for each call", f"--sandbox {name}")
            else:
                yield Finding(
                    WARNING, f"sandbox {name}", f"does not work; only --sandbox {name} needs it", str(problem)
                )
