"""Memory and number of tasks of a call limited by the kernel: a control group (cgroup v2) of its own for each.

Where none can be made the memory watch alone keeps the limit. Where one can, the watch still goes by the memory
of processes, twenty times a second; the group is the wall behind it, which nothing passes even for a moment. The
kernel counts more than the watch sees: files in scratch space, socket buffers, inodes and other kernel memory
count; what a forked worker shares with its zygote does not.

Groups can be made as far as cgroup v2 is delegated to this process. A group that holds processes cannot hand limits to
groups below it, so a place for them is either a group above, whose groups below have limits already, or the process'
own group once everything in it has moved to a leaf.
"""

import errno
import fcntl
import os
import secrets
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from harness.cache import cache_directory
from harness.sandbox.limits import Limits
from harness.sandbox.staging import locked

#: How the groups of runs are named.
PREFIX = "pgdl-run-"

#: Tasks in a group beside those of the submission: bubblewrap's, and the placeholder of a fast start.
OWN_TASKS = 8

#: Seconds that killed processes may take to leave their group.
PATIENCE = 2.0

#: Starts a command in a group: the shell that becomes it moves itself first.
ENTER = 'echo 0 > "$0" && exec "$@"'

#: What limits memory, and the number of processes.
CONTROLLERS = frozenset({"memory", "pids"})

#: Where the processes of a group go that must hold none itself.
LEAF = "pgdl-leaf"

#: Times to look again for processes that were made while others were moved.
ROUNDS = 10


class CallGroup:
    """The control group of one call."""

    def __init__(self, path: Path, limits: Limits) -> None:
        """Make it; raises `OSError`."""
        self._path = path
        path.mkdir()
        bounds = {
            "memory.max": limits.memory_bytes,
            "memory.oom.group": 1,  # all of a call or nothing
            "pids.max": limits.processes + OWN_TASKS,
        }
        if (path / "memory.swap.max").exists():  # not where the kernel does not count it
            bounds["memory.swap.max"] = 0
        for name, value in bounds.items():
            (path / name).write_text(str(value))

    @property
    def entrance(self) -> list[str]:
        """What must precede a command that is to run in the group."""
        return ["/bin/sh", "-c", ENTER, str(self._path / "cgroup.procs")]

    def open_entrance(self) -> int:
        """Return a descriptor; a process that writes "0" to it is in the group."""
        return os.open(self._path / "cgroup.procs", os.O_WRONLY)

    def ran_out_of_memory(self) -> bool:
        """Whether the kernel ended the call at its limit; false if it did because the machine had no more."""
        events = dict(line.split() for line in (self._path / "memory.events").read_text().splitlines())
        return int(events["oom"]) > 0 and int(events["oom_kill"]) > 0

    def close(self) -> None:
        """Remove it if it is empty; otherwise it goes with the run's."""
        with suppress(OSError):
            self._path.rmdir()


class RunGroup:
    """The control group of one run, which holds those of its calls; `close` removes it.

    A lock marks it as in use. What a killed run left behind has none and is removed by the next one.
    """

    def __init__(self) -> None:
        """Make it, and try whether a process gets into a group below; raises `NoCgroupError`."""
        problem = ""
        for place in find_places():
            try:
                with _changing():
                    self._place = place
                    self._path, self._lock = _make(place)
            except OSError as error:
                problem = f"{error.filename or place}: {error.strerror}"
            else:
                return
        raise NoCgroupError(problem)

    def call(self, limits: Limits) -> CallGroup:
        """Make the group of a call; raises `OSError`."""
        return CallGroup(self._path / secrets.token_hex(8), limits)

    def close(self) -> None:
        """Kill what is left in it, remove it, and leave everything as it was."""
        with _changing():
            _remove(self._place, self._path)
            os.close(self._lock)


def cgroup_problem() -> str | None:
    """Make a group and remove it again; return why that does not work here, None if it does."""
    try:
        RunGroup().close()
    except NoCgroupError as error:
        return str(error)
    return None


@contextmanager
def _changing() -> Iterator[None]:
    """One run at a time makes or removes groups."""
    with locked(cache_directory("cgroups")):
        yield


def _make(place: Path) -> tuple[Path, int]:
    """Make a run's group below `place`, and lock it."""
    remove_abandoned(place)
    path = place / f"{PREFIX}{secrets.token_hex(8)}"
    try:
        allow_limits(place)
        path.mkdir()
        allow_limits(path)
        trial = CallGroup(path / "trial", Limits())
        done = subprocess.run([*trial.entrance, "/bin/true"], env={}, capture_output=True, text=True)
        if done.returncode != 0:
            raise OSError(0, f"no process can be moved into a group: {done.stderr.strip()}")
        trial.close()
        lock = os.open(path, os.O_RDONLY)
        fcntl.flock(lock, fcntl.LOCK_EX)
    except OSError:
        _remove(place, path)
        raise
    return path, lock


def _remove(place: Path, path: Path) -> None:
    """Remove a run's group as far as that is possible; the next run does the rest."""
    with suppress(OSError):
        remove_group(path)
    with suppress(OSError):
        restore(place)


def remove_abandoned(place: Path) -> None:
    """Remove the groups of runs that are not there any more."""
    for path in place.glob(f"{PREFIX}*"):
        lock = os.open(path, os.O_RDONLY)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            remove_group(path)
        except OSError:
            pass  # another run is using it, or it is another user's
        finally:
            os.close(lock)


def remove_group(path: Path) -> None:
    """Kill all that is in a group and those below it, and remove them; raises `OSError`."""
    if (path / "cgroup.kill").exists():
        (path / "cgroup.kill").write_text("1")
    deadline = time.monotonic() + PATIENCE
    for group in (*(below for below in path.iterdir() if below.is_dir()), path):
        while True:
            try:
                group.rmdir()
                break
            except OSError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.01)


class NoCgroupError(Exception):
    """No control group with limits can be made here; the message says why."""


def find_places(proc: Path = Path("/proc/self")) -> list[Path]:
    """Return the groups below which there may be groups with limits, those first that disturb nobody.

    `proc` is what the kernel says of this process. Raises `NoCgroupError` if there is none.
    """
    mount, own = _own_group(proc)
    above = [group for group in own.parents if group.is_relative_to(mount) and _names(group, SUBTREE) >= CONTROLLERS]
    if not _names(own, "cgroup.controllers") >= CONTROLLERS:
        if not above:
            raise NoCgroupError(f"memory and pids are not among the controllers of {own}")
        return above
    if _names(own, SUBTREE) >= CONTROLLERS or members(own) == [os.getpid()]:
        return [own, *above]
    return [*above, own]  # processes of others would have to move


def _own_group(proc: Path) -> tuple[Path, Path]:
    """The mount point of cgroup v2, and the directory of this process' group below it."""
    mounts = [line.split() for line in (proc / "mountinfo").read_text().splitlines() if " - cgroup2 " in line]
    paths = [line[3:] for line in (proc / "cgroup").read_text().splitlines() if line.startswith("0::")]
    if not mounts or not paths:
        raise NoCgroupError("there is no cgroup v2 here")
    path = Path(paths[0])
    for _, _, _, root, mount, *_ in mounts:
        if path.is_relative_to(root):
            own = Path(mount, path.relative_to(root))
            if (own / "cgroup.procs").exists():
                return Path(mount), own.parent if own.name == LEAF else own
    raise NoCgroupError(f"this process' control group {path} is not shown at {mounts[0][4]}")


SUBTREE = "cgroup.subtree_control"


def _names(group: Path, file: str) -> set[str]:
    return set((group / file).read_text().split())


def members(group: Path) -> list[int]:
    """Return the ids of the processes in a group, those in groups below it left out."""
    return [int(pid) for pid in (group / "cgroup.procs").read_text().split()]


def allow_limits(group: Path) -> None:
    """Let the groups below have limits; moves the processes of `group` to a leaf if it must hold none for that.

    Raises `OSError`.
    """
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
    """Bring the processes of a leaf back, unless somebody else has groups with limits beside it.

    Raises `OSError`.
    """
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
    (group / SUBTREE).write_text(" ".join(sign + name for name in sorted(CONTROLLERS)))


def _move_all(source: Path, target: Path) -> None:
    for _ in range(ROUNDS):
        for pid in members(source):
            with suppress(ProcessLookupError):
                (target / "cgroup.procs").write_text(str(pid))
        if not members(source):
            break
