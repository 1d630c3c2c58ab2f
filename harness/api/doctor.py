"""The function `pgdl.doctor`: the capabilities of this machine, their consequences, and a remedy for each problem."""

import shutil
import sys
from collections.abc import Iterator
from importlib.util import cache_from_source, find_spec
from pathlib import Path
from typing import NamedTuple

from harness.errors import UserError
from harness.extras import OF_ANY_FRAMEWORK, install, lacking
from harness.worker.runtimes import RUNTIMES, Runtime, version_of

GOOD, WARNING, BAD = "ok", "note", "MISSING"


class Finding(NamedTuple):
    """A line of `pgdl doctor`: a capability, and whether the machine has it."""

    state: str  #: GOOD, WARNING or BAD
    item: str  #: name of the capability
    found: str  #: what was found
    consequence: str = ""  #: consequence of the finding, or a remedy


def doctor(executor: str = "local", parameters: dict[str, str | None] | None = None) -> Iterator[Finding]:
    """Yield findings on this machine; for an executor other than `local`, on the machines of its cluster."""
    if executor != "local":
        from harness.api.doctor_cluster import findings

        yield from findings(executor, parameters or {})
        return
    parts = {
        "software": _software, "machine": _machine, "cache": _disks, "sandbox": _sandbox,
        "other sandboxes": _other_sandboxes,
    }  # fmt: skip
    for name, part in parts.items():
        try:
            yield from part()
        except (UserError, ModuleNotFoundError) as error:
            yield Finding(BAD, name, "does not work", lacking(error) or str(error))


def _software() -> Iterator[Finding]:
    from harness.execution.machine import describe_machine

    yield Finding(GOOD, "Python", ".".join(map(str, sys.version_info[:3])))
    has_none = all(runtime.missing() for runtime in RUNTIMES.values())
    for name, runtime in RUNTIMES.items():
        if missing := runtime.missing():
            remedy = "" if has_none else install(runtime.extra)
            yield Finding(WARNING, f"runtime {name}", f"not installed: {', '.join(missing)}", remedy)
        else:
            versions = ", ".join(f"{package} {version_of(package)}" for package in runtime.distributions)
            yield Finding(GOOD, f"runtime {name}", versions, runtime.summary)
            yield from _bytecode(runtime)
    if has_none:
        yield Finding(BAD, "runtimes", "none", f"one is needed: {install('tensorflow')}{OF_ANY_FRAMEWORK}")
    yield Finding(GOOD, "kernel", describe_machine()["kernel"])


def _bytecode(runtime: Runtime) -> Iterator[Finding]:
    """Yield a warning if the framework's bytecode files are missing: uv writes no such files, and workers cannot."""
    spec = find_spec(runtime.framework)
    if spec is not None and spec.origin and not Path(cache_from_source(spec.origin)).exists():
        remedy = f"{sys.executable} -m compileall -q -j 0 {Path(spec.origin).parents[1]}"
        yield Finding(WARNING, "  bytecode", "missing: workers take longer to start, every time", remedy)


def _machine() -> Iterator[Finding]:
    from harness.configuration import GIB
    from harness.execution.machine import plan_lanes
    from harness.gpus import find_gpus
    from harness.machine_memory import usable_memory
    from harness.sandbox import Limits

    yield from _gpus()
    limit = Limits.default_memory_bytes(len(find_gpus()))
    lanes, memory = plan_lanes(None, limit), usable_memory()
    total = f"{memory.whose} {memory.total / GIB:.1f} GiB free, {lanes.cores} cores"
    follows = f"{lanes.workers} calls at once, {limit / GIB:g} GiB each (--workers, --memory)"
    state = GOOD if memory.available > limit else WARNING
    yield Finding(state, "memory", f"{memory.available / GIB:.1f} of {total}", follows)


def _disks() -> Iterator[Finding]:
    from harness.cache import cache_directory
    from harness.configuration import GIB

    for name, path in (("working directory", Path.cwd()), ("cache", cache_directory("staged").parent)):
        free = shutil.disk_usage(path).free / GIB
        remedy = "" if free > 1 else "under 1 GiB: free some space, or set PGDL_CACHE to another disk"
        yield Finding(GOOD if free > 1 else WARNING, f"disk ({name})", f"{free:.1f} GiB free at {path}", remedy)


def _gpus() -> Iterator[Finding]:
    from harness.gpus import find_gpus
    from harness.sandbox.devices import driver_library, missing_nodes

    gpus = find_gpus()
    if not gpus and Path("/dev/nvidiactl").exists():
        found = "device nodes, but no GPU in /proc/driver/nvidia/gpus"
        remedy = "models run on the processor; in a container, have the engine show that directory"
        yield Finding(WARNING, "GPUs", found, remedy)
    elif not gpus:
        yield Finding(WARNING, "GPUs", "none", f"models run on the processor; if there is a GPU: {install('gpu')}")
    else:
        yield Finding(GOOD, "GPUs", ", ".join(gpu.model for gpu in gpus), "one call per GPU at a time")
        if (library := driver_library()) is not None:
            yield Finding(GOOD, "GPU driver", str(library))
        else:
            remedy = "install the driver's libraries, or name their directory in LD_LIBRARY_PATH"
            yield Finding(WARNING, "GPU driver", "libcuda.so.1: not found; models run on the processor", remedy)
        if missing := missing_nodes():
            remedy = "the driver creates them when it is first used: nvidia-modprobe -u -c 0"
            yield Finding(WARNING, "GPU device nodes", f"missing: {', '.join(missing)}", remedy)


def _sandbox() -> Iterator[Finding]:
    from harness.api.doctor_sandbox import automatic_findings
    from harness.cache import any_cache

    with any_cache():  # a cache that cannot be written is a finding of its own
        yield from automatic_findings()


def _other_sandboxes() -> Iterator[Finding]:
    from harness.api.doctor_sandbox import other_findings
    from harness.cache import any_cache

    with any_cache():
        yield from other_findings()
