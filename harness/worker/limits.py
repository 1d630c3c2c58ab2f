"""Per-process limits that the worker puts on itself before it loads anything untrusted."""

import ctypes
import resource
import signal
from contextlib import suppress
from pathlib import Path

PR_SET_PDEATHSIG = 1


def die_with_parent() -> None:
    """Ask the kernel to kill this process when the harness dies, however it dies."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def offer_to_kernel() -> None:
    """Have the kernel end this process before any other of the machine when there is no memory left.

    A courtesy, no limit: whoever runs here can take it back, and where /proc cannot be written it is left out.
    """
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")


def apply_limits(processes: int, open_files: int, file_bytes: int) -> None:
    """Set hard limits that no later code of this process or its children can raise again.

    Address space is left alone: CUDA reserves far more of it than it uses. Memory is watched from outside.
    """
    offer_to_kernel()
    limit_process(0, processes, open_files, file_bytes)


def limit_process(pid: int, processes: int, open_files: int, file_bytes: int) -> None:
    """Set the hard limits of the process `pid`, 0 for this one; those of its children are the same from then on."""
    for kind, value in (
        (resource.RLIMIT_NPROC, processes),
        (resource.RLIMIT_NOFILE, open_files),
        (resource.RLIMIT_FSIZE, file_bytes),
        (resource.RLIMIT_CORE, 0),
    ):
        _, hard = resource.prlimit(pid, kind)
        bounded = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.prlimit(pid, kind, (bounded, bounded))
