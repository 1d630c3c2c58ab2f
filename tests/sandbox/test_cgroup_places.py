"""Tests of where control groups are created, and of the files of a group."""

import fcntl
import os
import subprocess
from pathlib import Path

import pytest

from harness.sandbox import cgroup
from harness.sandbox.cgroup import LEAF, PREFIX, CallGroup, NoCgroupError, find_parents, new_group, remove_abandoned
from harness.sandbox.job import MIB, Limits

BOTH = "cpu io memory pids"


@pytest.fixture
def mount(tmp_path: Path) -> Path:
    """An imitated mount of cgroup v2."""
    (tmp_path / "proc").mkdir()
    return group(tmp_path / "unified", controllers=BOTH)


def group(path: Path, *, controllers: str = "", below: str = "", members: str = "") -> Path:
    """Write the files of a control group: its controllers, the controllers for groups below it, and its processes."""
    path.mkdir()
    (path / "cgroup.controllers").write_text(f"{controllers}\n")
    (path / "cgroup.subtree_control").write_text(f"{below}\n")
    (path / "cgroup.procs").write_text(members)
    return path


def places(mount: Path, path: str, root: str = "/") -> list[Path]:
    """Return where a process in the group `path` can create groups, if the group `root` is mounted."""
    proc = mount.parent / "proc"
    (proc / "cgroup").write_text(f"4:memory:/elsewhere\n0::{path}\n")
    other = "31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw\n"
    lines = f"{other}41 31 0:38 {root} {mount} rw,relatime - cgroup2 cgroup2 rw\n"
    (proc / "mountinfo").write_bytes(b"30 23 8:1 / /media/\xfcbung rw - vfat  rw\n" + lines.encode())
    return find_parents(proc)


OWN = f"{os.getpid()}\n"
SLICE = {"controllers": BOTH, "below": "memory pids"}


@pytest.mark.parametrize(
    ("groups", "path", "root", "found"),
    [
        ({"own": {"controllers": BOTH, "members": OWN}}, "/own", "/", ["own"]),
        (
            {"slice": SLICE, "slice/session": {"controllers": BOTH, "members": f"1\n{OWN}"}},
            "/slice/session", "/", ["slice", "slice/session"],
        ),
        ({"slice": SLICE, "slice/session": {"controllers": "cpu", "members": OWN}}, "/slice/session", "/", ["slice"]),
        ({"own": SLICE, f"own/{LEAF}": {"controllers": BOTH, "members": OWN}}, f"/own/{LEAF}", "/", ["own"]),
        ({"inner": {"controllers": BOTH, "members": OWN}}, "/docker/x/inner", "/docker/x", ["inner"]),
    ],
    ids=[
        "it holds this process alone", "others would have to move: those above come first", "it has no controllers",
        "the leaf of an earlier run belongs to the group above", "only a part of the groups is mounted",
    ],
)  # fmt: skip
def test_places(mount, groups, path, root, found):
    for name, files in groups.items():
        group(mount / name, **files)
    assert places(mount, path, root) == [mount / name for name in found]


def test_the_root_of_all_groups_may_hold_processes(mount):
    (mount / "cgroup.subtree_control").write_text("memory pids\n")
    (mount / "cgroup.procs").write_text("1\n2\n")
    assert places(mount, "/") == [mount]


def test_a_group_that_is_not_mounted_or_lacks_the_controllers_cannot_be_used(mount):
    with pytest.raises(NoCgroupError, match="/other is not visible"):
        places(mount, "/other", root="/docker/x")
    with pytest.raises(NoCgroupError, match="/gone is not visible"):
        places(mount, "/gone")
    own = group(mount / "own", controllers="hugetlb", members=OWN)
    with pytest.raises(NoCgroupError, match=f"not among the controllers of {own}"):
        places(mount, "/own")


def test_a_machine_with_version_1_alone_has_none(tmp_path):
    (tmp_path / "mountinfo").write_text("35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n")
    (tmp_path / "cgroup").write_text("4:memory:/\n")
    with pytest.raises(NoCgroupError, match="no cgroup v2"):
        find_parents(tmp_path)


@pytest.fixture
def call_group(tmp_path: Path) -> CallGroup:
    """A control group in an ordinary directory: its files have no effect."""
    return CallGroup(tmp_path / "call", Limits(memory_bytes=900 * MIB, processes=64))


def test_limits_are_written_to_the_group(call_group, tmp_path):
    written = {file.name: int(file.read_text()) for file in (tmp_path / "call").iterdir()}
    assert written == {"memory.max": 900 * MIB, "memory.oom.group": 1, "pids.max": 72}


def test_a_command_enters_the_group_before_it_starts(call_group, tmp_path):
    done = subprocess.run([*call_group.entrance, "/bin/echo", "a  b"], env={}, capture_output=True, check=True)
    assert done.stdout == b"a  b\n"
    assert (tmp_path / "call" / "cgroup.procs").read_text() == "0\n"


def test_a_command_that_cannot_enter_is_not_started(tmp_path):
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
def test_the_kernel_says_who_ran_out_of_memory(call_group, tmp_path, oom, kills, ran_out):
    events = f"low 0\nhigh 0\nmax 7\noom {oom}\noom_kill {kills}\noom_group_kill 0\n"
    (tmp_path / "call" / "memory.events").write_text(events)
    assert call_group.ran_out_of_memory() is ran_out


def test_groups_of_killed_runs_are_removed_and_no_others(tmp_path):
    for name in (f"{PREFIX}dead/trial", f"{PREFIX}dead/call", f"{PREFIX}alive/call", "session/call"):
        (tmp_path / name).mkdir(parents=True)
    lock = os.open(tmp_path / f"{PREFIX}alive", os.O_RDONLY)
    fcntl.flock(lock, fcntl.LOCK_EX)
    remove_abandoned(tmp_path)
    os.close(lock)
    assert {path.name for path in tmp_path.iterdir()} == {f"{PREFIX}alive", "session"}


def test_a_group_that_another_run_removes_before_it_is_locked_is_made_again(tmp_path, monkeypatch):
    lock = cgroup.lock_descriptor

    def late(descriptor: int, **options: bool) -> bool:
        monkeypatch.undo()
        remove_abandoned(tmp_path)
        return lock(descriptor, **options)

    monkeypatch.setattr(cgroup, "lock_descriptor", late)
    path, descriptor = new_group(tmp_path)
    remove_abandoned(tmp_path)
    assert list(tmp_path.iterdir()) == [path]
    os.close(descriptor)
    remove_abandoned(tmp_path)
    assert not path.exists()
