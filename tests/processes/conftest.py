"""Fixtures that start processes with the program `odd_program`."""

import functools
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from e2e.real_runs import wait_for

from harness.processes import Process
from harness.worker.runtimes import RUNTIMES


@pytest.fixture
def start(new_processes: None) -> Callable[..., Process]:
    """Return a function that starts a process with `odd_program`."""
    return functools.partial(Process, "tests.processes.odd_program", RUNTIMES["jax"], threads=1)


def is_alive(pid: int) -> bool:
    """Return whether a process exists and is not a zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def started(file: Path) -> list[int]:
    """Wait for the sleeping process and its child; return their process IDs."""
    wait_for(lambda: file.exists() and len(file.read_text().split()) == 2, "both processes")
    return [int(pid) for pid in file.read_text().split()]


def wait_for_end(pids: Sequence[int]) -> None:
    wait_for(lambda: not any(map(is_alive, pids)), "the end of what was started")
