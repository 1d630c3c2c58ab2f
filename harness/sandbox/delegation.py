"""Where control groups with limits may be made: cgroup v2, as far as it is delegated to this process.

A group that holds processes cannot hand limits to groups below it, so a place is either a group above, whose
groups below have limits already, or the process' own group once everything in it has moved to a leaf.
"""

import errno
import os
from contextlib import suppress
from pathlib import Path

#: What limits memory, and the number of processes.
CONTROLLERS = frozenset({"memory", "pids"})

#: Where the processes of a group go that must hold none itself.
LEAF = "pgdl-leaf"

#: Times to look again for processes that were made while others were moved.
ROUNDS = 10


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
