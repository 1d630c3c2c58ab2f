"""How much memory and processor time a tree of processes uses, seen from outside."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

import psutil


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
    first; only when their sum is over `limit_bytes` is the proportional size looked up, which is right.
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
                memory += process.memory_full_info().pss
    return Usage(memory, cpu)


def machine_is_exhausted() -> bool:
    """Whether the machine itself is about to run out of memory: nobody's call is to blame for that."""
    memory = psutil.virtual_memory()
    return bool(memory.available < 0.05 * memory.total)
