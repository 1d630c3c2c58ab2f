"""Limits of processes. A worker sets most of them for itself before it loads untrusted code."""

import ctypes
import os
import resource
import signal
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

PR_SET_PDEATHSIG = 1

#: Seconds between two checks of whether the parent lives, on systems that do not report its death.
PARENT_S = 0.5

#: Environment variable with the memory limit of the call in bytes, for measures that need less time with more memory.
MEMORY_LIMIT = "MEMORY_LIMIT_BYTES"


def die_with_parent() -> None:
    """Have this process killed when its parent ends."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    else:
        threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()


def offer_to_kernel() -> None:
    """On Linux, make the kernel kill this process first if memory runs out. A submission can undo this."""
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000", encoding="utf-8")


def apply_limits(processes: int, open_files: int, file_bytes: int, memory_bytes: int) -> None:
    """Set hard limits, which neither this process nor its children can raise again.

    The address space has no limit, because CUDA reserves far more than it uses. The harness limits the memory from
    outside. Measures find `memory_bytes` in the environment.
    """
    offer_to_kernel()
    os.environ[MEMORY_LIMIT] = str(memory_bytes)
    limit_process(0, processes, open_files, file_bytes)


def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(PARENT_S)
    os.kill(os.getpid(), signal.SIGKILL)


def limit_process(pid: int, processes: int, open_files: int, file_bytes: int) -> None:
    """Set the hard limits of the process `pid`; 0 is this process. Only Linux can limit other processes."""
    for kind, value in (
        (resource.RLIMIT_NPROC, processes),
        (resource.RLIMIT_NOFILE, open_files),
        (resource.RLIMIT_FSIZE, file_bytes),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_MEMLOCK, 0),  # locked pages of files would not be counted as memory
    ):
        _, hard = resource.prlimit(pid, kind) if sys.platform == "linux" else resource.getrlimit(kind)
        bounded = value if hard == resource.RLIM_INFINITY else min(value, hard)
        if sys.platform == "linux":
            resource.prlimit(pid, kind, (bounded, bounded))
        else:
            resource.setrlimit(kind, (bounded, bounded))
