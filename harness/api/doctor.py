"""The capabilities of this machine, their consequences, and a remedy for each problem."""

import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from importlib.util import cache_from_source, find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from harness.api.finding import BAD, GOOD, WARNING, Finding
from harness.errors import UserError
from harness.extras import install, install_for_gpu, lacking
from harness.worker.runtimes import RUNTIMES, Runtime, version_of

if TYPE_CHECKING:
    from harness.sandbox import Job, Kind


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
    from harness.gpus import find_gpus
    from harness.machine_memory import usable_memory
    from harness.sandbox import Limits, examine_machine

    gpus = find_gpus()
    if gpus:
        facts = examine_machine()
        yield Finding(GOOD, "GPUs", ", ".join(gpu.model for gpu in gpus), "one call per GPU at a time")
        yield _driver(facts.driver_library)
        if facts.missing_nodes:
            remedy = "the driver creates them when it is first used: nvidia-modprobe -u -c 0"
            yield Finding(WARNING, "GPU device nodes", f"missing: {', '.join(facts.missing_nodes)}", remedy)
    elif Path("/dev/nvidiactl").exists():
        found = "device nodes, but no GPU in /proc/driver/nvidia/gpus"
        yield Finding(
            WARNING, "GPUs", found, "models run on the processor; in a container, have the engine show that directory"
        )
    else:
        yield Finding(WARNING, "GPUs", "none", f"models run on the processor; if there is a GPU: {install('gpu')}")
    limit = Limits.default_memory_bytes(len(gpus))
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
    from harness.sandbox import KINDS, examine_machine

    facts = examine_machine()
    if facts.not_linux is not None:
        yield Finding(BAD, "sandbox", "not on this system", str(facts.not_linux))
        warning = "tasks and submissions are read without the limit that Linux sets: only open those that you trust"
        yield Finding(WARNING, "memory", "not limited here", warning)
        return
    warnings: list[str] = []
    best, second = KINDS["fast"].for_auto(warnings.append), KINDS["landlock"]()
    problem, weaker = best.problem(), second.problem()
    who = "root, which starts every call as another user" if facts.becomes_others else "an ordinary user"
    if os.geteuid() == 0 and not facts.becomes_others:
        who = "root without the capabilities to start calls as other users"
    if problem is None:
        yield Finding(
            GOOD, "sandbox", f"bubblewrap at {shutil.which('bwrap')}, as {who}", "tried now with small submissions:"
        )
        yield _memory_limit(facts.cgroup_problem)
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
    from harness.gpus import find_gpus
    from harness.sandbox import Limits, Staging

    gpu = next(iter(find_gpus()), None)
    if not _installed():
        yield Finding(WARNING, "  self-test", "not possible without a runtime", "")
        return
    with Staging() as staging, kind:
        trials = kind.trials(staging, _installed(), gpu=gpu)
        try:
            kind.prepare(trials)
        except UserError as error:
            yield Finding(BAD, "  self-test", "does not start", str(error))
            return
        if warnings:
            yield Finding(WARNING, "  fast starts", "do not work", warnings[0])
        else:
            yield Finding(GOOD, "  fast starts", "a call starts in a fraction of a second", "")
        if gpu is not None:
            yield from _devices(kind, trials)
        workers = plan_lanes(None, Limits.default_memory_bytes(0)).workers
        for trap, result in kind.run_traps(staging, workers, _installed()[0]):
            if trap.caught(result):
                yield Finding(GOOD, "  self-test", trap.name, "")
            else:
                found = f"expected {trap.outcome}, found {result.outcome}: {result.message or result.value}"
                yield Finding(BAD, "  self-test", trap.name, f"{found}; do not run other people's code here")


def _devices(kind: "Kind", trials: Sequence["Job"]) -> Iterator[Finding]:
    """Try in the sandbox whether the runtime of each trial uses the GPU."""
    for trial in trials:
        name, result = trial.runtime, kind.run_trial(trial)
        device = result.environment.get("device")
        if device == "cpu":
            remedy = f"install a build with CUDA: {install_for_gpu(RUNTIMES[name].gpu_install)}"
            yield Finding(WARNING, f"  {name} and the GPU", "runs on the processor", remedy)
        elif device is None:
            yield Finding(WARNING, f"  {name} and the GPU", "no answer", f"{result.outcome}: {result.message}")
        else:
            yield Finding(GOOD, f"  {name} and the GPU", f"runs on it: {device}", "")


def _driver(found: Path | None) -> Finding:
    if found is None:
        remedy = "install the driver's libraries, or name their directory in LD_LIBRARY_PATH"
        return Finding(WARNING, "GPU driver", "libcuda.so.1: not found; models run on the processor", remedy)
    return Finding(GOOD, "GPU driver", str(found), "")


def _installed() -> list[str]:
    return [name for name, runtime in RUNTIMES.items() if not runtime.missing()]


def _memory_limit(problem: str | None) -> Finding:
    if problem is None:
        return Finding(GOOD, "  memory limit", "enforced by the kernel: every call has a control group", "")
    delegated = f"systemd-run {'' if os.geteuid() == 0 else '--user '}--scope -p Delegate=yes pgdl ..."
    remedy = f"only a control group counts that; with systemd and cgroup v2: {delegated} (found: {problem})"
    enforced = "enforced by the memory watch, twenty times a second; the kernel's own memory for a call is not counted"
    return Finding(WARNING, "  memory limit", enforced, remedy)


def _other() -> Iterator[Finding]:
    """Yield findings on the kinds of sandbox that `auto` never chooses."""
    from harness.sandbox import KINDS, SandboxChoice

    for name, kind in KINDS.items():
        if kind.is_sandbox and name not in SandboxChoice.TRIED:
            problem = kind().problem()
            if problem is None:
                yield Finding(GOOD, f"sandbox {name}", f"would work: {kind.summary} for each call", f"--sandbox {name}")
            else:
                yield Finding(
                    WARNING, f"sandbox {name}", f"does not work; only --sandbox {name} needs it", str(problem)
                )
