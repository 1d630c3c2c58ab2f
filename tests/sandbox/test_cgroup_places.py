"""Where control groups may be made, read from directories that look like the kernel's."""

import os
from pathlib import Path

import pytest

from harness.sandbox.cgroup import LEAF, NoCgroupError, find_parents

BOTH = "cpu io memory pids"


@pytest.fixture
def mount(tmp_path: Path) -> Path:
    """Where cgroup v2 is mounted."""
    (tmp_path / "proc").mkdir()
    return group(tmp_path / "unified", controllers=BOTH)


def group(path: Path, *, controllers: str = "", below: str = "", members: str = "") -> Path:
    """Make what a control group looks like: its controllers, those of groups below it, and its processes."""
    path.mkdir()
    (path / "cgroup.controllers").write_text(f"{controllers}\n")
    (path / "cgroup.subtree_control").write_text(f"{below}\n")
    (path / "cgroup.procs").write_text(members)
    return path


def places(mount: Path, path: str, root: str = "/") -> list[Path]:
    """The places for a process in the group `path`, where `root` is what is mounted."""
    proc = mount.parent / "proc"
    (proc / "cgroup").write_text(f"4:memory:/elsewhere\n0::{path}\n")
    other = "31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw\n"
    (proc / "mountinfo").write_text(f"{other}41 31 0:38 {root} {mount} rw,relatime - cgroup2 cgroup2 rw\n")
    return find_parents(proc)


def test_a_group_that_holds_this_process_alone_is_its_own(mount: Path) -> None:
    own = group(mount / "own", controllers=BOTH, members=f"{os.getpid()}\n")
    assert places(mount, "/own") == [own]


def test_groups_above_come_first_where_others_would_have_to_move(mount: Path) -> None:
    slices = group(mount / "user.slice", controllers=BOTH, below="memory pids")
    own = group(slices / "session", controllers=BOTH, members=f"1\n{os.getpid()}\n")
    assert places(mount, "/user.slice/session") == [slices, own]


def test_a_group_without_controllers_leaves_those_above(mount: Path) -> None:
    slices = group(mount / "user.slice", controllers=BOTH, below="memory pids")
    group(slices / "session", controllers="cpu", members=f"{os.getpid()}\n")
    assert places(mount, "/user.slice/session") == [slices]


def test_the_root_of_all_groups_may_hold_processes(mount: Path) -> None:
    (mount / "cgroup.subtree_control").write_text("memory pids\n")
    (mount / "cgroup.procs").write_text("1\n2\n")
    assert places(mount, "/") == [mount]


def test_a_leaf_of_an_earlier_run_belongs_to_the_group_above(mount: Path) -> None:
    own = group(mount / "own", controllers=BOTH, below="memory pids")
    group(own / LEAF, controllers=BOTH, members=f"{os.getpid()}\n")
    assert places(mount, f"/own/{LEAF}") == [own]


def test_a_part_of_the_groups_may_be_all_that_is_mounted(mount: Path) -> None:
    own = group(mount / "inner", controllers=BOTH, members=f"{os.getpid()}\n")
    assert places(mount, "/docker/x/inner", root="/docker/x") == [own]


def test_a_group_that_is_not_mounted_cannot_be_used(mount: Path) -> None:
    with pytest.raises(NoCgroupError, match="/other is not visible"):
        places(mount, "/other", root="/docker/x")
    with pytest.raises(NoCgroupError, match="/gone is not visible"):
        places(mount, "/gone")


def test_without_the_controllers_there_is_no_place(mount: Path) -> None:
    own = group(mount / "own", controllers="hugetlb", members=f"{os.getpid()}\n")
    with pytest.raises(NoCgroupError, match=f"not among the controllers of {own}"):
        places(mount, "/own")


def test_a_machine_with_version_1_alone_has_none(tmp_path: Path) -> None:
    (tmp_path / "mountinfo").write_text("35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n")
    (tmp_path / "cgroup").write_text("4:memory:/\n")
    with pytest.raises(NoCgroupError, match="no cgroup v2"):
        find_parents(tmp_path)
