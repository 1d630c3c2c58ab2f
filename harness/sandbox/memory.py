"""How much memory and processor time a tree of processes uses, seen from outside."""

import ctypes
import platform
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

import psutil

#: kcmp(2) by architecture, and what it is to compare: the memory of two processes.
KCMP = {"x86_64": 312, "aarch64": 272}
KCMP_VM = 1

_libc = ctypes.CDLL(None)


@dataclass(frozen=True)
class Usage:
    """Memory and processor time of a process and all its descendants at one moment."""

    memory_bytes: int
    cpu_s: float


@contextmanager
def _vanishing() -> Iterator[None]:
    """Processes end while they are looked at; one that is gone uses nothing."""
    with suppress(psutil.NoSuchProcess, psutil.AccessDenied, ProcessLookupError):
        yield


def measure(roots: Iterable[int], limit_bytes: int) -> Usage:
    """Return what the trees under the processes `roots` use together.

    Resident sizes count pages that forked children share once per child. They are cheap, so they come
    first; only when their sum is over `limit_bytes` is the proportional size looked up, which is right. A process
    that keeps others from looking counts in full.
    """
    processes: set[psutil.Process] = set()
    for pid in roots:
        with _vanishing():
            root = psutil.Process(pid)
            processes |= {root, *root.children(recursive=True)}
    memory, cpu = 0, 0.0
    for process in processes:
        with _vanishing():
            memory += process.memory_info().rss
            times = process.cpu_times()
            cpu += times.user + times.system + times.children_user + times.children_system
    if memory > limit_bytes:
        memory = 0
        for process in processes:
            with _vanishing():
                if not _shares_memory(process.pid, process.ppid()):
                    memory += _proportional_size(process)
    return Usage(memory, cpu)


def _proportional_size(process: psutil.Process) -> int:
    """Resident size with every shared page divided by the number of its users; undivided where that is refused."""
    try:
        return int(process.memory_full_info().pss)
    except psutil.AccessDenied:
        return int(process.memory_info().rss)


def _shares_memory(pid: int, parent: int) -> bool:
    """Whether a process still runs in its parent's memory: for a moment, every program that is started does.

    Its pages would count twice. A kernel that cannot tell says no.
    """
    number = KCMP.get(platform.machine())
    return number is not None and _libc.syscall(number, pid, parent, KCMP_VM, 0, 0) == 0


def machine_is_exhausted() -> bool:
    """Whether the machine itself is about to run out of memory: nobody's call is to blame for that."""
    memory = psutil.virtual_memory()
    return bool(memory.available < 0.05 * memory.total)
