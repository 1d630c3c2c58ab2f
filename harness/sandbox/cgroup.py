"""Control groups (cgroup v2): the kernel limits the memory and the number of tasks of each call.

Without a group, the harness measures the memory of a call's processes twenty times a second, and a call may exceed the
limit for a moment. With a group, the limit is never exceeded. The kernel also counts files in scratch space, socket
buffers, inodes and other kernel memory, but not pages that a forked worker shares with its parent.

Groups can be created where cgroup v2 is delegated to this process. A group that contains processes cannot enable
controllers for its children. New groups are therefore created below an ancestor whose children already have the
controllers, or below this process' own group, after all processes of this group have moved to a child group.
"""

import errno
import os
import secrets
import time
from contextlib import AbstractContextManager, suppress
from pathlib import Path

from filelock import lock_descriptor

from harness import children
from harness.cache import cache_directory, locked
from harness.errors import UserError
from harness.machine_memory import lines_of
from harness.sandbox.job import Limits

PREFIX = "pgdl-run-"

#: Number of tasks in a group besides the submission's tasks: bubblewrap, and the placeholder process of a fast start.
OWN_TASKS = 8

#: Seconds that killed processes may take to leave their group.
LEAVING_S = 2.0

#: Shell script that runs a command in a control group: the shell joins the group, then becomes the command.
ENTER = 'echo 0 > "$0" && exec "$@"'

#: The controllers that limit memory and the number of tasks.
CONTROLLERS = frozenset({"memory", "pids"})

#: Name of the child group into which processes move from a group that must not contain processes itself.
LEAF = "pgdl-leaf"

#: Maximum number of attempts to move all processes: new processes may start meanwhile.
ROUNDS = 10


class CallGroup:
    """The control group of one call: limits its memory and the number of its tasks."""

    def __init__(self, path: Path, limits: Limits) -> None:
        """Create the group at `path`. Raise `OSError` if the kernel refuses the group or a limit."""
        self._path = path
        path.mkdir()
        bounds = {
            "memory.max": limits.memory_bytes,
            "memory.oom.group": 1,  # kill all processes of a call or none
            "pids.max": limits.processes + OWN_TASKS,
        }
        if (path / "memory.swap.max").exists():  # missing if the kernel does not account for swap
            bounds["memory.swap.max"] = 0
        for name, value in bounds.items():
            (path / name).write_text(str(value), encoding="utf-8")

    @property
    def entrance(self) -> list[str]:
        """The beginning of a command line that makes the rest of the command run in the group."""
        return ["/bin/sh", "-c", ENTER, str(self._path / "cgroup.procs")]

    def open_entrance(self) -> int:
        """Return a descriptor to which a process writes "0" to join the group."""
        return os.open(self._path / "cgroup.procs", os.O_WRONLY)

    def ran_out_of_memory(self) -> bool:
        """Return whether the call was killed at the group's memory limit, not because the machine lacked memory."""
        events = dict(line.split() for line in (self._path / "memory.events").read_text(encoding="utf-8").splitlines())
        return int(events["oom"]) > 0 and int(events["oom_kill"]) > 0

    def close(self) -> None:
        """Remove the group. If it still has processes, `RunGroup.close` removes it later."""
        with suppress(OSError):
            self._path.rmdir()


class RunGroup:
    """The control group of one run, the parent of its calls' groups.

    A lock marks the group as in use. The lock of a killed run is free, so the next run removes the group.
    """

    def __init__(self) -> None:
        """Create the group, and try to move a process into a child group. Raise `NoCgroupError` if that fails."""
        problem = ""
        for parent in find_parents():
            try:
                with _changing():
                    self._parent = parent
                    self._path, self._lock = _create(parent)
            except OSError as error:
                problem = f"{error.filename or parent}: {error.strerror}"
            except UserError as error:  # about the cache
                problem = str(error)
            else:
                return
        raise NoCgroupError(problem)

    def call(self, limits: Limits) -> CallGroup:
        """Return a new group for a call. Raise `OSError` if the kernel refuses it."""
        return CallGroup(self._path / secrets.token_hex(8), limits)

    def close(self) -> None:
        """Kill the remaining processes, remove the group, and restore its parent."""
        with _changing():
            _remove(self._parent, self._path, self._lock)


def cgroup_problem() -> str | None:
    """Return why no control group with limits can be created here; None if a trial succeeds."""
    try:
        RunGroup().close()
    except NoCgroupError as error:
        return str(error)
    return None


def _changing() -> AbstractContextManager[None]:
    return locked(cache_directory("cgroups") / "lock")


def _create(parent: Path) -> tuple[Path, int]:
    """Create the group of a run below `parent`. Return its path, and the file descriptor that holds its lock."""
    remove_abandoned(parent)
    try:
        allow_limits(parent)
        path, lock = new_group(parent)
    except OSError:
        with suppress(OSError):
            restore(parent)
        raise
    try:
        allow_limits(path)
        trial = CallGroup(path / "trial", Limits())
        done = children.run([*trial.entrance, "/bin/true"], {}, seconds=60)
        if done.returncode != 0:
            raise OSError(0, f"no process can be moved into a group: {done.stderr.decode().strip()}")
        trial.close()
    except OSError:
        _remove(parent, path, lock)
        raise
    return path, lock


def new_group(parent: Path) -> tuple[Path, int]:
    """Create and lock a group below `parent`. Return its path, and the file descriptor that holds its lock.

    The lock `_changing` excludes only runs with the same cache directory. Before this function has locked the new
    group, a run with another cache directory may remove the group as abandoned. The function then creates another.
    """
    while True:
        path = parent / f"{PREFIX}{secrets.token_hex(8)}"
        path.mkdir()
        with suppress(FileNotFoundError):
            lock = os.open(path, os.O_RDONLY)
            lock_descriptor(lock)
            if path.exists():
                return path, lock
            os.close(lock)


def _remove(parent: Path, path: Path, lock: int) -> None:
    with suppress(OSError):
        remove_group(path)
    with suppress(OSError):
        restore(parent)
    os.close(lock)


def remove_abandoned(parent: Path) -> None:
    """Remove the groups below `parent` whose locks are free, because their runs were killed."""
    for path in parent.glob(f"{PREFIX}*"):
        with suppress(OSError):  # another user owns it, or another run has removed it
            lock = os.open(path, os.O_RDONLY)
            try:
                if lock_descriptor(lock, blocking=False):
                    remove_group(path)
            finally:
                os.close(lock)


def remove_group(path: Path) -> None:
    """Kill all processes in a group and its children, and remove the groups. Raise `OSError` if that takes too long."""
    if (path / "cgroup.kill").exists():
        (path / "cgroup.kill").write_text("1", encoding="utf-8")
    deadline = time.monotonic() + LEAVING_S
    for group in (*(child for child in path.iterdir() if child.is_dir()), path):
        while True:
            try:
                group.rmdir()
                break
            except OSError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.01)


class NoCgroupError(Exception):
    """No control group with limits can be created here; the message says why."""


def find_parents(proc: Path = Path("/proc/self")) -> list[Path]:
    """Return the groups below which this process may create groups with limits, the best first.

    This process' own group comes last if other processes would have to leave it. `proc` is this process' directory in
    /proc. Raise `NoCgroupError` if no group is suitable.
    """
    mount, own = _own_group(proc)
    ancestors = [
        group for group in own.parents if group.is_relative_to(mount) and _names(group, SUBTREE) >= CONTROLLERS
    ]
    if not _names(own, "cgroup.controllers") >= CONTROLLERS:
        if not ancestors:
            raise NoCgroupError(f"memory and pids are not among the controllers of {own}")
        return ancestors
    if _names(own, SUBTREE) >= CONTROLLERS or members(own) == [os.getpid()]:
        return [own, *ancestors]
    return [*ancestors, own]  # last: other processes would have to move


def _own_group(proc: Path) -> tuple[Path, Path]:
    """Return the mount point of cgroup v2, and the directory of this process' group."""
    mounts = [line.split(" ") for line in lines_of(proc / "mountinfo") if " - cgroup2 " in line]
    paths = [line[3:] for line in lines_of(proc / "cgroup") if line.startswith("0::")]
    if not mounts or not paths:
        raise NoCgroupError("there is no cgroup v2 here")
    path = Path(paths[0])
    for _, _, _, root, mount, *_ in mounts:
        if path.is_relative_to(root):
            own = Path(mount, path.relative_to(root))
            if (own / "cgroup.procs").exists():
                return Path(mount), own.parent if own.name == LEAF else own
    raise NoCgroupError(f"this process' control group {path} is not visible below {mounts[0][4]}")


SUBTREE = "cgroup.subtree_control"


def _names(group: Path, file: str) -> set[str]:
    return set((group / file).read_text(encoding="utf-8").split())


def members(group: Path) -> list[int]:
    """Return the IDs of the processes in a group, without the processes in its child groups."""
    return [int(pid) for pid in (group / "cgroup.procs").read_text(encoding="utf-8").split()]


def allow_limits(group: Path) -> None:
    """Enable the controllers for children of `group`. If necessary, first move all processes to the child `LEAF`."""
    if _names(group, SUBTREE) >= CONTROLLERS:
        return
    try:
        _set_controllers(group, "+")
    except OSError as error:
        if error.errno != errno.EBUSY:
            raise
        (group / LEAF).mkdir(exist_ok=True)
        _move_all(group, group / LEAF)
        _set_controllers(group, "+")


def restore(group: Path) -> None:
    """Move the processes of `LEAF` back into `group`, unless other child groups still need the controllers."""
    if (group / LEAF).exists():
        try:
            _set_controllers(group, "-")
        except OSError as error:
            if error.errno != errno.EBUSY:
                raise
            return
        _move_all(group / LEAF, group)
        (group / LEAF).rmdir()


def _set_controllers(group: Path, sign: str) -> None:
    (group / SUBTREE).write_text(" ".join(sign + name for name in sorted(CONTROLLERS)), encoding="utf-8")


def _move_all(source: Path, target: Path) -> None:
    for _ in range(ROUNDS):
        for pid in members(source):
            with suppress(ProcessLookupError):
                (target / "cgroup.procs").write_text(str(pid), encoding="utf-8")
        if not members(source):
            break
