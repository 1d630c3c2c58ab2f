"""Measures the memory, processor time and threads of a call's processes from outside the sandbox.

Resident pages of files on a disk, such as libraries and training data, do not count: the kernel can drop the pages and
read them again. A page that a process has changed counts, except in shared mappings of files in scratch space: scratch
space has a limit of its own. Pages of shared memory and tmpfs count.

To read the size of a process, the kernel waits for a lock. If hundreds of processes fork on a busy machine, the wait
takes seconds; if a driver is stuck, the wait never ends. The wait must not delay the clock or the result of a call.

A call can make the kernel allocate memory that belongs to no process, until the machine runs out of memory. The harness
then ends the call, and measures how much memory becomes free.
"""

import ctypes
import os
import platform
import queue
import re
import sys
import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass

import psutil

from harness.machine_memory import usable_memory
from harness.sandbox.processes import Processes, stat_fields

#: System-call number of kcmp(2) by architecture, and its comparison type: the address spaces of two processes.
KCMP = {"x86_64": 312, "aarch64": 272}
KCMP_VM = 1

#: Lines of /proc/PID/status: resident pages without a file, resident pages of shared memory and tmpfs, swapped-out
#: pages, page tables, and pages from the machine's pool of huge pages.
#: Lines of /proc/PID/smaps_rollup: the first three sizes, in which a page that n processes share counts 1/n.
SIZES = re.compile(rb"^(RssAnon|RssShmem|VmSwap|VmPTE|HugetlbPages):\s+(\d+) kB", re.MULTILINE)
SHARES = re.compile(rb"^(Pss_Anon|Pss_Shmem|SwapPss):\s+(\d+) kB", re.MULTILINE)
PARENT = re.compile(rb"^PPid:\s+(\d+)", re.MULTILINE)

#: Seconds after which a measurement stops as soon as the memory counted so far exceeds the limit.
HURRY_S = 0.1

#: Share of the machine's memory that must stay free: with less free memory, calls are ended.
RESERVE = 0.05

#: Lock for ending one call at a time: the memory that becomes free belongs to that call, and no call ends needlessly.
ENDING = threading.Lock()


@dataclass(frozen=True)
class Usage:
    """Memory, processor time and threads of a call's processes at one moment."""

    memory_bytes: int
    cpu_s: float
    threads: int = 0  #: threads of all processes together


@dataclass(frozen=True)
class _Memory:
    thread: str  #: /proc directory of a living thread of the process, because the first thread may have ended
    parent: str  #: /proc directory of the parent process
    pages: int  #: bytes in pages that may be shared with other processes
    private: int  #: bytes that are never shared

    @property
    def bytes(self) -> int:
        return self.pages + self.private


def measure(processes: Processes, limit_bytes: int, give_up: Callable[[], bool] = lambda: False) -> Usage:
    """Return the memory, processor time and threads of all processes of a call together.

    First, the resident pages are summed, which is fast but counts a page once for each process that shares it. If the
    sum exceeds `limit_bytes`, the kernel's exact proportional set sizes are summed instead. Each takes at least
    milliseconds to read. A process that denies access to its exact size counts in full. After `HURRY_S` seconds, the
    exact sum stops as soon as it exceeds the limit. If `give_up` returns true during the exact sum, the returned memory
    is 0.
    """
    if sys.platform != "linux":
        return _measure_elsewhere(processes.numbers().values())
    began, ticks_per_s = time.monotonic(), os.sysconf("SC_CLK_TCK")
    memories: dict[str, _Memory] = {}
    ticks = threads = 0
    for entry in processes.entries():
        with suppress(FileNotFoundError, ProcessLookupError):  # it has just ended, and uses no memory
            fields = stat_fields(entry)
            ticks += sum(map(int, fields[11:15]))
            threads += int(fields[17])
            memory = _memory(entry)
            if memory is not None:
                memories[entry] = memory
    total = sum(memory.bytes for memory in memories.values())
    if total > limit_bytes:
        total, numbers = 0, processes.numbers()
        for entry, memory in sorted(memories.items(), key=lambda item: -item[1].bytes):
            if give_up():
                return Usage(0, ticks / ticks_per_s, threads)
            if total > limit_bytes and time.monotonic() > began + HURRY_S:
                break
            with suppress(FileNotFoundError, ProcessLookupError):
                if not _shares_memory(entry, memory, memories, numbers):
                    total += _proportional_size(memory)
    return Usage(total, ticks / ticks_per_s, threads)


def _measure_elsewhere(pids: Iterable[int]) -> Usage:
    """Return the usage of processes on macOS, where resident pages of files count, too."""
    used = Usage(0, 0.0)
    for pid in pids:
        with suppress(psutil.Error):
            process = psutil.Process(pid)
            times, size = process.cpu_times(), process.memory_info().rss
            cpu_s = used.cpu_s + times.user + times.system
            used = Usage(used.memory_bytes + size, cpu_s, used.threads + process.num_threads())
    return used


def _memory(entry: str) -> _Memory | None:
    """Return the memory of a process, as reported by any of its living threads; None for a zombie."""
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
    pages = sizes[b"RssAnon"] + sizes[b"RssShmem"] + sizes[b"VmSwap"]
    private = sizes[b"VmPTE"] + sizes.get(b"HugetlbPages", 0)
    return _Memory(thread, f"{entry.rpartition('/')[0]}/{parent[1].decode() if parent else 0}", pages, private)


def _proportional_size(memory: _Memory) -> int:
    """Return a process' bytes. A page that n processes share counts as 1/n page, or fully if n cannot be read."""
    try:
        shares = _bytes(SHARES, _read(f"{memory.thread}/smaps_rollup"))
    except PermissionError:
        return memory.bytes
    except (FileNotFoundError, ProcessLookupError):
        process, is_other, _ = memory.thread.partition("/task/")
        if is_other and int(stat_fields(process)[17]) > 1:  # the thread has ended, but its process has others
            return memory.bytes
        raise
    return sum(shares.values()) + memory.private if b"Pss_Anon" in shares else memory.bytes


def _shares_memory(entry: str, memory: _Memory, memories: dict[str, _Memory], numbers: dict[str, int]) -> bool:
    """Return whether a process shares its parent's address space, as after vfork(2); False if unknown."""
    parent = memories.get(memory.parent)
    if parent is None or parent.thread != memory.parent or memory.thread != entry:
        return False
    pid, other = numbers.get(entry), numbers.get(memory.parent)
    return pid is not None and other is not None and same_memory(pid, other)


def same_memory(pid: int, other: int) -> bool:
    """Return whether two processes share an address space; False if the kernel cannot compare."""
    number = KCMP.get(platform.machine())
    return number is not None and ctypes.CDLL(None).syscall(number, pid, other, KCMP_VM, 0, 0) == 0


def _bytes(pattern: re.Pattern[bytes], text: bytes) -> dict[bytes, int]:
    return {name: int(kib) * 1024 for name, kib in pattern.findall(text)}


def _read(path: str) -> bytes:
    with open(path, "rb", buffering=0) as file:  # noqa: PTH123
        return file.read()


class MemoryWatch:
    """A thread that measures a call's processes on request, so that callers never wait long.

    `sample` waits at most `patience_s` seconds. If a measurement takes longer, a pause of the same length follows it.
    """

    def __init__(self, measure: Callable[[], Usage], patience_s: float) -> None:
        self._measure, self._patience_s = measure, patience_s
        self._asked: queue.SimpleQueue[Future[Usage] | None] = queue.SimpleQueue()
        self._result: Future[Usage] | None = None
        self._began = self._rests_until = 0.0
        threading.Thread(target=self._run, daemon=True).start()

    def sample(self) -> Usage | None:
        """Return the result of a measurement; None during a pause, or if no result arrives within `patience_s` seconds.

        A measurement that still runs is awaited; otherwise a new one is made.
        """
        now = time.monotonic()
        if self._result is None:
            if now < self._rests_until:
                return None
            self._result, self._began = Future(), now
            self._asked.put(self._result)
        try:
            usage = self._result.result(self._patience_s)
        except TimeoutError:
            return None
        self._result = None
        took = time.monotonic() - self._began
        if took > self._patience_s:
            self._rests_until = self._began + 2 * took
        return usage

    def close(self) -> None:
        """End the thread after its current measurement."""
        self._asked.put(None)

    def _run(self) -> None:
        while (result := self._asked.get()) is not None:
            try:
                result.set_result(self._measure())
            except BaseException as error:  # `sample` raises it
                result.set_exception(error)


def is_exhausted() -> bool:
    """Return whether less than `RESERVE` of the machine's memory is free."""
    memory = usable_memory()
    return memory.available < RESERVE * memory.total


def end_and_measure(end: Callable[[], object]) -> int | None:
    """If the machine lacks memory, end a call by calling `end`, and return the freed bytes; otherwise return None."""
    with ENDING:
        if not is_exhausted():
            return None
        before = usable_memory().available
        end()
        return max(usable_memory().available - before, 0)
