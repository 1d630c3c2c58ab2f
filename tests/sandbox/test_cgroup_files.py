"""What is written to a control group and read from it, and what becomes of groups that nobody uses any more."""

import fcntl
import os
import subprocess
from pathlib import Path

import pytest

from harness.sandbox.cgroup import PREFIX, CallGroup, remove_abandoned
from harness.sandbox.job import MIB, Limits


@pytest.fixture
def call_group(tmp_path: Path) -> CallGroup:
    """A group in a directory that the kernel knows nothing of: its files are written, and mean nothing."""
    return CallGroup(tmp_path / "call", Limits(memory_bytes=900 * MIB, processes=64))


def test_limits_are_written_to_the_group(call_group: CallGroup, tmp_path: Path) -> None:
    written = {file.name: int(file.read_text()) for file in (tmp_path / "call").iterdir()}
    assert written == {"memory.max": 900 * MIB, "memory.oom.group": 1, "pids.max": 72}


def test_a_command_enters_the_group_before_it_starts(call_group: CallGroup, tmp_path: Path) -> None:
    done = subprocess.run([*call_group.entrance, "/bin/echo", "a  b"], env={}, capture_output=True, check=True)
    assert done.stdout == b"a  b\n"
    assert (tmp_path / "call" / "cgroup.procs").read_text() == "0\n"


def test_a_command_that_cannot_enter_is_not_started(tmp_path: Path) -> None:
    group = CallGroup(tmp_path / "call", Limits())
    (tmp_path / "call" / "cgroup.procs").mkdir()
    done = subprocess.run([*group.entrance, "/bin/echo"], env={}, capture_output=True)
    assert done.returncode != 0
    assert done.stdout == b""


@pytest.mark.parametrize(
    ("oom", "kills", "ran_out"),
    [(0, 0, False), (1, 2, True), (3, 0, False), (0, 2, False)],
    ids=["nothing happened", "killed at the limit", "at the limit, nobody killed", "killed for the machine's sake"],
)
def test_the_kernel_says_who_ran_out_of_memory(
    call_group: CallGroup, tmp_path: Path, oom: int, kills: int, ran_out: bool
) -> None:
    events = f"low 0\nhigh 0\nmax 7\noom {oom}\noom_kill {kills}\noom_group_kill 0\n"
    (tmp_path / "call" / "memory.events").write_text(events)
    assert call_group.ran_out_of_memory() is ran_out


def test_groups_of_killed_runs_are_removed_and_no_others(tmp_path: Path) -> None:
    for name in (f"{PREFIX}dead/trial", f"{PREFIX}dead/call", f"{PREFIX}alive/call", "session/call"):
        (tmp_path / name).mkdir(parents=True)
    lock = os.open(tmp_path / f"{PREFIX}alive", os.O_RDONLY)
    fcntl.flock(lock, fcntl.LOCK_EX)
    remove_abandoned(tmp_path)
    os.close(lock)
    assert {path.name for path in tmp_path.iterdir()} == {f"{PREFIX}alive", "session"}
