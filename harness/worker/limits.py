"""Per-process limits that the worker sets for itself before it loads untrusted code."""

import ctypes
import os
import signal
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

PR_SET_PDEATHSIG = 1

#: Seconds between two checks of the parent if the kernel does not report its death.
PARENT_S = 0.5

#: Environment variable with the memory limit of the call, in bytes, for a measure that asks before it needs much.
MEMORY_LIMIT = "MEMORY_LIMIT_BYTES"


def die_with_parent() -> None:
    """Let this process be killed when its parent dies for any reason: by the kernel if it can.

    On Windows, the harness' job objects do it.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    elif sys.platform != "win32":
        threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()


def offer_to_kernel() -> None:
    """Make this process the kernel's first choice to kill when the machine runs out of memory.

    A courtesy, not a limit: the submission can undo it, and it is skipped where /proc is not writable.
    """
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")


def apply_limits(processes: int, open_files: int, file_bytes: int, memory_bytes: int) -> None:
    """Set hard limits that this process and its children cannot raise again.

    The address space is not limited: CUDA reserves far more of it than it uses. Memory is watched from outside, and
    told to the measure.
    """
    offer_to_kernel()
    os.environ[MEMORY_LIMIT] = str(memory_bytes)
    limit_process(0, processes, open_files, file_bytes)


if sys.platform == "win32":

    def limit_process(pid: int, processes: int, open_files: int, file_bytes: int) -> None:
        """Do nothing: Windows has no limits of this kind."""

else:
    import resource

    def _end_with(parent: int) -> None:
        while os.getppid() == parent:
            time.sleep(PARENT_S)
        os.kill(os.getpid(), signal.SIGKILL)

    def limit_process(pid: int, processes: int, open_files: int, file_bytes: int) -> None:
        """Set the hard limits of the process `pid`, 0 for this process; its future children inherit them.

        Limits of other processes can be set only on Linux.
        """
        for kind, value in (
            (resource.RLIMIT_NPROC, processes),
            (resource.RLIMIT_NOFILE, open_files),
            (resource.RLIMIT_FSIZE, file_bytes),
            (resource.RLIMIT_CORE, 0),
            (resource.RLIMIT_MEMLOCK, 0),  # pages of files do not count as memory because the kernel can drop them
        ):
            _, hard = resource.prlimit(pid, kind) if sys.platform == "linux" else resource.getrlimit(kind)
            bounded = value if hard == resource.RLIM_INFINITY else min(value, hard)
            if sys.platform == "linux":
                resource.prlimit(pid, kind, (bounded, bounded))
            else:
                resource.setrlimit(kind, (bounded, bounded))
