"""Memory and processor time of a tree of processes, seen from outside. Bounds are loose, nothing is timed."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from harness.sandbox.limits import MIB
from harness.sandbox.memory import Usage, _shares_memory, measure

MUCH = 10**15

ALLOCATE = "held = bytearray(b'x' * (100 << 20)); "
FORK = "import os; [os.fork() for _ in range(2)]; "  # four processes in all
WAIT = "import os; os.write(1, b'ready\\n'); os.read(0, 1)"


@contextmanager
def running(program: str, processes: int = 1) -> Iterator[int]:
    """Process id of a Python that runs `program` and waits, when all of its processes are ready."""
    with subprocess.Popen(
        [sys.executable, "-c", program + WAIT], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert [process.stdout.readline() for _ in range(processes)] == ["ready\n"] * processes
        yield process.pid
        process.communicate()


def test_a_process_is_measured() -> None:
    usage = measure([os.getpid()], MUCH)
    assert 10 * MIB < usage.memory_bytes < 4096 * MIB
    assert usage.cpu_s > 0


def test_what_a_child_allocates_is_seen() -> None:
    with running("") as small, running(ALLOCATE) as large:
        difference = measure([large], MUCH).memory_bytes - measure([small], MUCH).memory_bytes
    assert 90 * MIB < difference < 120 * MIB


def test_a_child_counts_for_its_parent() -> None:
    before = measure([os.getpid()], MUCH).memory_bytes
    with running(ALLOCATE):
        assert measure([os.getpid()], MUCH).memory_bytes - before > 90 * MIB


def test_pages_that_forked_children_share_count_once_where_it_matters() -> None:
    with running(ALLOCATE + FORK, processes=4) as pid:
        cheap, exact = measure([pid], MUCH).memory_bytes, measure([pid], 0).memory_bytes
    assert cheap > 400 * MIB
    assert 90 * MIB < exact < 200 * MIB


def test_processor_time_of_children_that_ended_is_kept() -> None:
    burn = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'sum(range(6 * 10**7))']); "
    with running("") as idle, running(burn) as busy:
        assert measure([busy], MUCH).cpu_s > measure([idle], MUCH).cpu_s + 0.05


def test_a_process_that_is_gone_uses_nothing() -> None:
    with running("") as pid:
        pass
    assert measure([pid], MUCH) == Usage(0, 0.0)


def test_a_child_has_memory_of_its_own_once_its_program_runs() -> None:
    """Between its start by vfork and its program it runs in its parent's, and would count twice."""
    with running("") as child:
        assert _shares_memory(os.getpid(), os.getpid())
        assert not _shares_memory(child, os.getpid())
