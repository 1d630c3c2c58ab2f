"""Tests of control groups: where they are created, their files, and that the kernel enforces their limits."""

import fcntl
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from harness.sandbox import cgroup
from harness.sandbox.cgroup import LEAF, PREFIX, CallGroup, NoCgroupError, RunGroup, cgroup_problem, find_parents
from harness.sandbox.job import MIB, Limits

BOTH = "cpu io memory pids"
OWN = f"{os.getpid()}\n"
SLICE = {"controllers": BOTH, "below": "memory pids"}

Places = Callable[..., list[str]]


@pytest.fixture
def places(tmp_path: Path) -> Places:
    """Return a function: in which of these groups of an imitated cgroup v2 a process in the group `path` makes others.

    Of each group, the controllers, the controllers for groups below it, and the processes are given.
    """
    proc, mount = tmp_path / "proc", tmp_path / "unified"
    proc.mkdir()

    def found(groups: dict[str, dict[str, str]], path: str, root: str = "/") -> list[str]:
        for name, files in ({"": {"controllers": BOTH}} | groups).items():
            (mount / name).mkdir(exist_ok=True)
            (mount / name / "cgroup.controllers").write_text(f"{files.get('controllers', '')}\n")
            (mount / name / "cgroup.subtree_control").write_text(f"{files.get('below', '')}\n")
            (mount / name / "cgroup.procs").write_text(files.get("members", ""))
        (proc / "cgroup").write_text(f"4:memory:/elsewhere\n0::{path}\n")
        other = "31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw\n"
        lines = f"{other}41 31 0:38 {root} {mount} rw,relatime - cgroup2 cgroup2 rw\n"
        (proc / "mountinfo").write_bytes(b"30 23 8:1 / /media/\xfcbung rw - vfat  rw\n" + lines.encode())
        return [parent.relative_to(mount).as_posix() for parent in find_parents(proc)]

    return found


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
        ({"": SLICE | {"members": "1\n2\n"}}, "/", "/", ["."]),
    ],
    ids=[
        "it holds this process alone", "others would have to move: those above come first", "it has no controllers",
        "the leaf of an earlier run belongs to the group above", "only a part of the groups is mounted",
        "the root of all groups may hold processes",
    ],
)  # fmt: skip
def test_where_groups_are_created(places, groups, path, root, found):
    assert places(groups, path, root) == found


@pytest.mark.parametrize(
    ("path", "root", "problem"),
    [("/other", "/docker/x", "/other is not visible"), ("/gone", "/", "/gone is not visible"),
     ("/own", "/", "not among the controllers of .*/own")],
)  # fmt: skip
def test_a_group_that_is_not_mounted_or_lacks_the_controllers_cannot_be_used(places, path, root, problem):
    with pytest.raises(NoCgroupError, match=problem):
        places({"own": {"controllers": "hugetlb", "members": OWN}}, path, root)


def test_a_machine_with_version_1_alone_has_none(tmp_path):
    (tmp_path / "mountinfo").write_text("35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n")
    (tmp_path / "cgroup").write_text("4:memory:/\n")
    with pytest.raises(NoCgroupError, match="no cgroup v2"):
        find_parents(tmp_path)


def test_a_command_enters_the_group_with_its_limits_before_it_starts(tmp_path):
    """The group is an ordinary directory: its files have no effect."""
    group, path = CallGroup(tmp_path / "call", Limits(memory_bytes=900 * MIB, processes=64)), tmp_path / "call"
    written = {file.name: int(file.read_text()) for file in path.iterdir()}
    assert written == {"memory.max": 900 * MIB, "memory.oom.group": 1, "pids.max": 72}
    command = [*group.entrance, "/bin/echo", "a  b"]
    assert subprocess.run(command, env={}, capture_output=True, check=True).stdout == b"a  b\n"
    assert (path / "cgroup.procs").read_text() == "0\n"
    (path / "cgroup.procs").unlink()
    (path / "cgroup.procs").mkdir()  # it cannot be entered
    done = subprocess.run(command, env={}, capture_output=True)
    assert (done.returncode != 0, done.stdout) == (True, b"")


@pytest.mark.parametrize(
    ("oom", "kills", "ran_out"),
    [(0, 0, False), (1, 2, True), (3, 0, False), (0, 2, False)],
    ids=["nothing happened", "killed at the limit", "at the limit, nobody killed", "killed for the machine's sake"],
)
def test_the_kernel_says_who_ran_out_of_memory(tmp_path, oom, kills, ran_out):
    group = CallGroup(tmp_path / "call", Limits())
    events = f"low 0\nhigh 0\nmax 7\noom {oom}\noom_kill {kills}\noom_group_kill 0\n"
    (tmp_path / "call" / "memory.events").write_text(events)
    assert group.ran_out_of_memory() is ran_out


def test_groups_of_killed_runs_are_removed_and_no_others(tmp_path):
    for name in (f"{PREFIX}dead/trial", f"{PREFIX}dead/call", f"{PREFIX}alive/call", "session/call"):
        (tmp_path / name).mkdir(parents=True)
    lock = os.open(tmp_path / f"{PREFIX}alive", os.O_RDONLY)
    fcntl.flock(lock, fcntl.LOCK_EX)
    cgroup.remove_abandoned(tmp_path)
    os.close(lock)
    assert {path.name for path in tmp_path.iterdir()} == {f"{PREFIX}alive", "session"}


def test_a_group_that_another_run_removes_before_it_is_locked_is_made_again(tmp_path, monkeypatch):
    lock = cgroup.lock_descriptor

    def late(descriptor: int, **options: bool) -> bool:
        monkeypatch.undo()
        cgroup.remove_abandoned(tmp_path)
        return lock(descriptor, **options)

    monkeypatch.setattr(cgroup, "lock_descriptor", late)
    path, descriptor = cgroup.new_group(tmp_path)
    cgroup.remove_abandoned(tmp_path)
    assert list(tmp_path.iterdir()) == [path]
    os.close(descriptor)
    cgroup.remove_abandoned(tmp_path)
    assert not path.exists()


PROBLEM = cgroup_problem()
of_the_kernel = pytest.mark.skipif(PROBLEM is not None, reason=f"no control group can be made: {PROBLEM}")

#: Starts twice as many children as it may, and says how many there were.
CHILDREN = """
import subprocess
children = []
try:
    while len(children) < 40:
        children.append(subprocess.Popen(["/bin/sleep", "60"]))
except OSError:
    pass
print(len(children))
for child in children:
    child.kill()
"""
IN_CHILD = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'b\"x\" * (200 << 20)']); print('alive')"
FILES = "import os; file = os.memfd_create('x'); [os.write(file, bytes(1 << 20)) for _ in range(200)]"

HARNESS = "from harness.sandbox.cgroup import RunGroup; group = RunGroup(); print(group._path, flush=True); input()"


@pytest.fixture
def run() -> Iterator[Callable[[str], tuple[int, str, bool]]]:
    """Return a function that runs a Python program in a group; the test fails if the group is not removed."""
    run = RunGroup()
    call = run.call(Limits(memory_bytes=100 * MIB, processes=12))

    def program(text: str) -> tuple[int, str, bool]:
        done = subprocess.run([*call.entrance, sys.executable, "-c", text], capture_output=True, text=True)
        return done.returncode, done.stdout, call.ran_out_of_memory()

    yield program
    call.close()
    run.close()
    assert not run._path.exists()


@of_the_kernel
def test_what_stays_below_the_limits_is_left_alone(run):
    assert run("held = b'x' * (20 << 20); print(len(held))") == (0, "20971520\n", False)
    assert 10 < int(run(CHILDREN)[1]) < 20


@of_the_kernel
@pytest.mark.parametrize("program", ["held = b'x' * (200 << 20); print(len(held))", IN_CHILD, FILES])
def test_all_of_a_call_ends_when_it_runs_out_of_memory(run, program):
    assert run(program) == (-signal.SIGKILL, "", True)


@of_the_kernel
def test_the_next_run_removes_what_a_killed_one_left():
    with subprocess.Popen(
        [sys.executable, "-c", HARNESS], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as harness:
        assert harness.stdout is not None
        left = Path(harness.stdout.readline().strip())
        RunGroup().close()
        assert left.is_dir(), "it is in use"
        harness.kill()
    RunGroup().close()
    assert not left.exists()
