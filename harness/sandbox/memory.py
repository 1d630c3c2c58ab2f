"""How much memory and processor time the processes of a call use, seen from outside."""

import ctypes
import os
import platform
import re
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from harness.sandbox.processes import Processes, stat_fields

#: kcmp(2) by architecture, and what it is to compare: the memory of two processes.
KCMP = {"x86_64": 312, "aarch64": 272}
KCMP_VM = 1

#: Lines of `status`: what is resident or swapped out, the tables that say where it is, and pages from the machine's
#: pool of huge ones. And of `smaps_rollup`: pages in memory and swapped out, divided by the number of their users.
SIZES = re.compile(rb"^(VmRSS|VmSwap|VmPTE|HugetlbPages):\s+(\d+) kB", re.MULTILINE)
SHARES = re.compile(rb"^(Pss|SwapPss):\s+(\d+) kB", re.MULTILINE)
PARENT = re.compile(rb"^PPid:\s+(\d+)", re.MULTILINE)

#: Seconds that the whole of the memory may take to be known, once it is known to be too much.
HURRY_S = 0.1

TICKS = os.sysconf("SC_CLK_TCK")

_libc = ctypes.CDLL(None)


@dataclass(frozen=True)
class Usage:
    """Memory and processor time of the processes of a call at one moment."""

    memory_bytes: int
    cpu_s: float


@dataclass(frozen=True)
class _Memory:
    """The memory of a process."""

    thread: str  #: the directory of a thread that has it: the first one may have ended
    parent: str  #: the directory of the process' parent
    pages: int  #: bytes that may be shared with others
    own: int  #: bytes that are not

    @property
    def bytes(self) -> int:
        return self.pages + self.own


def measure(processes: Processes, limit_bytes: int, give_up: Callable[[], bool] = lambda: False) -> Usage:
    """Return what the processes of a call use together.

    Resident sizes count pages that forked children share once per child. They are cheap, so they come
    first; only when their sum is over `limit_bytes` is the proportional size looked up, which is right. A process
    that keeps others from looking counts in full. That second look takes milliseconds per process, and longer where
    it has to wait; it stops, without a size, once `give_up` says so, and after `HURRY_S` as soon as it is sure.
    """
    began = time.monotonic()
    found: dict[str, _Memory] = {}
    ticks = 0
    for entry in processes.entries():
        with suppress(FileNotFoundError, ProcessLookupError):  # it ends while it is looked at: then it uses nothing
            ticks += sum(map(int, stat_fields(entry)[11:15]))
            memory = _memory(entry)
            if memory is not None:
                found[entry] = memory
    total = sum(memory.bytes for memory in found.values())
    if total > limit_bytes:
        total, numbers = 0, processes.numbers()
        for entry, memory in sorted(found.items(), key=lambda item: -item[1].bytes):
            if give_up():
                return Usage(0, ticks / TICKS)
            if total > limit_bytes and time.monotonic() > began + HURRY_S:
                break
            with suppress(FileNotFoundError, ProcessLookupError):
                if not _shares_memory(entry, memory, found, numbers):
                    total += _proportional_size(memory)
    return Usage(total, ticks / TICKS)


def _memory(entry: str) -> _Memory | None:
    """What a process has, None if it has ended and only waits to be noticed.

    A process goes on when its first thread ends, but then seems to have no memory: its other threads have it.
    """
    status = _read(f"{entry}/status")
    thread, sizes = entry, _bytes(SIZES, status)
    if not sizes:
        for thread in (directory.path for directory in os.scandir(f"{entry}/task")):
            with suppress(FileNotFoundError, ProcessLookupError):
                sizes = _bytes(SIZES, _read(f"{thread}/status"))
            if sizes:
                break
        else:
            return None
    parent = PARENT.search(status)
    pages = sizes[b"VmRSS"] + sizes[b"VmSwap"]
    own = sizes[b"VmPTE"] + sizes.get(b"HugetlbPages", 0)
    return _Memory(thread, f"{entry.rpartition('/')[0]}/{parent[1].decode() if parent else 0}", pages, own)


def _proportional_size(memory: _Memory) -> int:
    """The size with every shared page divided by the number of its users; undivided where that is refused."""
    try:
        return sum(_bytes(SHARES, _read(f"{memory.thread}/smaps_rollup")).values()) + memory.own
    except PermissionError:
        return memory.bytes


def _shares_memory(entry: str, memory: _Memory, found: dict[str, _Memory], numbers: dict[str, int]) -> bool:
    """Whether a process still runs in its parent's memory: for a moment, every program that is started does.

    Its pages would count twice. A kernel that cannot tell says no; so do processes whose first thread has ended, of
    which it would compare nothing with nothing.
    """
    parent = found.get(memory.parent)
    if parent is None or parent.thread != memory.parent or memory.thread != entry:
        return False
    pid, other = numbers.get(entry), numbers.get(memory.parent)
    return pid is not None and other is not None and same_memory(pid, other)


def same_memory(pid: int, other: int) -> bool:
    """Whether two processes run in the same memory, as far as the kernel tells."""
    number = KCMP.get(platform.machine())
    return number is not None and _libc.syscall(number, pid, other, KCMP_VM, 0, 0) == 0


def _bytes(pattern: re.Pattern[bytes], text: bytes) -> dict[bytes, int]:
    return {name: int(kib) * 1024 for name, kib in pattern.findall(text)}


def _read(path: str) -> bytes:
    with open(path, "rb", buffering=0) as file:  # noqa: PTH123
        return file.read()
