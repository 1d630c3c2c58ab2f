"""Tests of memory, threads and processor time of a tree of processes, measured from outside, with loose bounds."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.sandbox import memory
from harness.sandbox.job import MIB
from harness.sandbox.memory import Usage, measure, same_memory
from harness.sandbox.processes import Tree

MUCH = 10**15

ALLOCATE = "held = bytearray(b'x' * (100 << 20)); "
FORK = "import os; [os.fork() for _ in range(2)]; "  # four processes in all
CHILD = "import os; child = os.fork(); "
WAIT = "import os; os.write(1, b'ready\\n'); os.read(0, 1)"

#: The first thread of the process ends, another one waits; the number is of exit(2), which ends a thread.
HIDE = """
import ctypes, os, platform, threading
def wait():
    while b"Z" not in open("/proc/self/stat", "rb").read().rpartition(b")")[2]:
        pass
    os.write(1, b"ready\\n")
    os.read(0, 1)
    os._exit(0)
threading.Thread(target=wait).start()
ctypes.CDLL(None).syscall({"x86_64": 60, "aarch64": 93}[platform.machine()], 0)
"""

#: Reads bytes far apart of memory that nobody has written to: it takes tables, but no pages.
TABLES = """
import mmap
empty = mmap.mmap(-1, 20 << 30, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000, mmap.PROT_READ)
empty.madvise(mmap.MADV_NOHUGEPAGE)
for place in range(0, 20 << 30, 2 << 20): empty[place]
"""


#: Reads all of a mapped file; the descriptors of files without a disk are closed.
MAP = """
import mmap, os, pathlib
def held(descriptor):
    os.truncate(descriptor, 100 << 20)
    mapped = mmap.mmap(descriptor, 100 << 20, {flags})
    os.close(descriptor)
    {touch}
    return mapped
"""
READ, WRITE = "sum(mapped[::4096])", "mapped[:] = b'x' * (100 << 20)"
SHARED, PRIVATE = "mmap.MAP_SHARED", "mmap.MAP_PRIVATE"


@contextmanager
def running(program: str, processes: int = 1) -> Iterator[int]:
    """Start a Python that runs `program` and waits; yield its process ID when all of its processes are ready."""
    with subprocess.Popen(
        [sys.executable, "-c", program + WAIT], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert [process.stdout.readline() for _ in range(processes)] == ["ready\n"] * processes
        yield process.pid
        process.communicate()


def difference(small: int, large: int, limit_bytes: int) -> int:
    """Return the memory of the tree of process `large` minus that of the tree of `small`, in bytes."""
    return measure(Tree(large), limit_bytes).memory_bytes - measure(Tree(small), limit_bytes).memory_bytes


@pytest.mark.parametrize(
    ("small", "large", "least", "most"),
    [
        ("", ALLOCATE, 90, 120), (HIDE, ALLOCATE + HIDE, 90, 120), ("", TABLES, 35, 60),
        ("", "import mmap; m = mmap.mmap(-1, 100 << 20); m.write(b'x' * (100 << 20)); ", 90, 120),
    ],
    ids=["allocated", "behind a first thread that has ended", "page tables", "shared memory without a file"],
)  # fmt: skip
def test_what_a_child_takes_is_seen(small: str, large: str, least: int, most: int) -> None:
    with running(small) as one, running(large) as other:
        for limit in (MUCH, 0):
            assert least * MIB < difference(one, other, limit) < most * MIB


def test_memory_counts_although_the_thread_ends_in_which_it_was_found(monkeypatch: pytest.MonkeyPatch) -> None:
    find = memory._memory

    def find_in_ended_thread(entry: str) -> Any:
        found = find(entry)
        return found and replace(found, thread=f"{entry}/task/{1 << 30}")

    monkeypatch.setattr(memory, "_memory", find_in_ended_thread)
    with running(ALLOCATE + HIDE) as process:
        assert measure(Tree(process), 0).memory_bytes > 100 * MIB


def test_a_child_counts_for_its_parent() -> None:
    allocate = CHILD + "held = child or bytearray(b'x' * (100 << 20)); "
    with running(CHILD, processes=2) as small, running(allocate, processes=2) as large:
        assert 90 * MIB < difference(small, large, MUCH) < 120 * MIB


def test_pages_that_forked_children_share_count_once_where_it_matters(monkeypatch: pytest.MonkeyPatch) -> None:
    with running(ALLOCATE + FORK, processes=4) as pid:
        assert measure(Tree(pid), MUCH).memory_bytes > 400 * MIB
        whole = measure(Tree(pid), 250 * MIB)
        assert 90 * MIB < whole.memory_bytes < 200 * MIB
        given_up = measure(Tree(pid), 0, lambda: True)  # nobody needs it any more
        assert (given_up.memory_bytes, 0 < given_up.cpu_s <= whole.cpu_s) == (0, True)
        monkeypatch.setattr(memory, "HURRY_S", 0.0)  # the long look ends early only when it is sure
        assert 90 * MIB < measure(Tree(pid), 250 * MIB).memory_bytes < 200 * MIB
        assert 10 * MIB < measure(Tree(pid), 10 * MIB).memory_bytes < 90 * MIB


def mapping(opening: str, flags: str, touch: str) -> int:
    """Return the bytes that a mapped file of 100 MiB adds to a process; assert that both ways to measure agree."""
    program = MAP.format(flags=flags, touch=touch)
    with running(program) as small, running(f"{program}mapped = held({opening}); ") as large:
        cheap, exact = (difference(small, large, limit) for limit in (MUCH, 0))
    assert abs(cheap - exact) < 10 * MIB
    return cheap


@pytest.mark.rest
@pytest.mark.parametrize(
    "opening", ["os.memfd_create('x')", "os.open('/dev/shm/pgdl-{}', os.O_RDWR | os.O_CREAT)"], ids=["memfd", "tmpfs"]
)
@pytest.mark.parametrize("flags", [SHARED, PRIVATE])
def test_files_without_a_disk_count(opening: str, flags: str) -> None:
    path = Path("/dev/shm", f"pgdl-{os.getpid()}")
    try:
        assert 90 * MIB < mapping(opening.format(os.getpid()), flags, WRITE) < 120 * MIB
    finally:
        path.unlink(missing_ok=True)


def test_pages_of_a_file_count_once_they_are_written_to(tmp_path: Path) -> None:
    """All calls share the training data and the libraries; a changed copy belongs to its call."""
    (tmp_path / "data").write_bytes(bytes(100 << 20))
    opening = f"os.open({str(tmp_path / 'data')!r}, os.O_RDWR)"
    assert mapping(opening, SHARED, READ) < 10 * MIB
    assert mapping(opening, PRIVATE, READ) < 10 * MIB
    assert 90 * MIB < mapping(opening, PRIVATE, WRITE) < 120 * MIB


def test_threads_are_counted() -> None:
    threads = "from threading import Event, Thread; [Thread(target=Event().wait, daemon=True).start() for _ in 'xyz']; "
    with running("") as small, running(threads) as large:
        assert measure(Tree(large), MUCH).threads == measure(Tree(small), MUCH).threads + 3


@pytest.mark.rest
def test_processor_time_of_children_that_ended_is_kept() -> None:
    burn = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'sum(range(6 * 10**7))']); "
    with running("") as idle, running(burn) as busy:
        assert measure(Tree(busy), MUCH).cpu_s > measure(Tree(idle), MUCH).cpu_s + 0.05


def test_a_child_has_memory_of_its_own_once_its_program_runs_and_none_when_it_is_gone() -> None:
    """After vfork, a child uses its parent's memory until its program runs; this memory must not count twice."""
    with running("") as child:
        assert same_memory(os.getpid(), os.getpid())
        assert not same_memory(child, os.getpid())
    assert measure(Tree(child), MUCH) == Usage(0, 0.0)


def test_a_kernel_that_does_not_tell_files_apart_counts_a_process_in_full(monkeypatch: pytest.MonkeyPatch) -> None:
    """On Linux before 5.4, the harness measures too much, never too little."""
    read = memory._read

    def read_earlier(path: str) -> bytes:
        lines = read(path).splitlines(keepends=True)
        return b"".join(line for line in lines if not line.startswith((b"Pss_Anon", b"Pss_Shmem")))

    monkeypatch.setattr(memory, "_read", read_earlier)
    with running(ALLOCATE) as pid:
        assert measure(Tree(pid), 1).memory_bytes > 100 * MIB


#: Prints the size of its huge pages in KiB before and after, and whether its memory has changed.
GATHERING = """
import re
from pathlib import Path
from harness.worker.huge_pages import gather

def huge():
    return int(re.search(r"AnonHugePages: +([0-9]+)", Path("/proc/self/smaps_rollup").read_text())[1])

memory = [bytes([i % 251]) * 1000 for i in range(50_000)]
before = huge()
gather()
print(before, huge(), all(part == bytes([i % 251]) * 1000 for i, part in enumerate(memory)))
"""


def test_memory_is_gathered_in_huge_pages() -> None:
    if sys.platform != "linux":
        pytest.skip("huge pages are gathered on Linux")
    done = subprocess.run([sys.executable, "-c", GATHERING], capture_output=True, text=True, check=True)
    before, after, same = re.findall(r"\w+", done.stdout)
    assert same == "True"
    if after == "0":
        pytest.skip("this kernel gathers no huge pages (Linux 6.1 does)")
    assert int(after) >= int(before) + 8 * 1024
