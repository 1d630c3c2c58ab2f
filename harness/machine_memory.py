"""The memory that the harness can use: the machine's memory, or less if a control group of Linux limits the harness.

Control groups limit the memory of containers, of services, and of jobs on clusters.
"""

import functools
import os
import re
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil


@dataclass(frozen=True)
class Memory:
    """An amount of memory in bytes."""

    total: int
    available: int  #: bytes that can be used without swapping
    whose: str = "the machine's"  #: to whom the memory belongs: "the machine's", or the container's


@dataclass(frozen=True)
class _Version:
    """A version of Linux' control groups (cgroups), with the names of its files."""

    filesystem: str
    controller: str  #: name of the memory controller in /proc/PID/cgroup and in mount options
    limit: str  #: file with the memory limit
    usage: str  #: file with the memory in use
    droppable: re.Pattern[str]  #: lines of memory.stat with the size of cached files, which the kernel can drop
    kills: str  #: file with a line `oom_kill N` for N killed processes


_VERSIONS = (
    _Version(
        "cgroup2", "", "memory.max", "memory.current", re.compile(r"^(?:in)?active_file (\d+)$", re.M), "memory.events"
    ),
    _Version(
        "cgroup", "memory", "memory.limit_in_bytes", "memory.usage_in_bytes",
        re.compile(r"^total_(?:in)?active_file (\d+)$", re.M), "memory.oom_control",
    ),
)  # fmt: skip


@dataclass(frozen=True)
class _Group:
    path: Path
    version: _Version

    def limit(self) -> int | None:
        text = (self.path / self.version.limit).read_text(encoding="utf-8").strip()
        return int(text) if text.isdecimal() else None

    def available(self, limit: int) -> int:
        """Return the bytes that processes in a group with this limit can still use."""
        used = int((self.path / self.version.usage).read_text(encoding="utf-8"))
        files = self.version.droppable.findall((self.path / "memory.stat").read_text(encoding="utf-8"))
        return limit - used + sum(map(int, files))

    def kills(self) -> int:
        found = re.search(r"^oom_kill (\d+)$", (self.path / self.version.kills).read_text(encoding="utf-8"), re.M)
        return int(found[1]) if found else 0


def usable_memory() -> Memory:
    """Return the memory of the machine, or the lowest limit of this process' control groups if it is lower."""
    machine = psutil.virtual_memory()
    memory = Memory(machine.total, machine.available)
    for group in _groups():
        with suppress(OSError):
            limit = group.limit()
            if limit is not None and limit < machine.total:
                whose = "the control group's" if limit < memory.total else memory.whose
                available = max(min(memory.available, group.available(limit)), 0)
                memory = Memory(min(memory.total, limit), available, whose)
    return memory


def memory_kills() -> int:
    """Return how many processes in this process' control groups were killed by the kernel for lack of memory."""
    total = 0
    for group in _groups():
        with suppress(OSError):
            total += group.kills()
    return total


def lines_of(path: Path) -> list[str]:
    """Return the lines of a file of /proc with paths, which may consist of any bytes but a line feed."""
    return os.fsdecode(path.read_bytes()).split("\n")[:-1]


@functools.cache  # they still limit the process if it moves to a group inside them
def _groups(proc: Path = Path("/proc/self")) -> tuple[_Group, ...]:
    """Return the control groups that can limit the memory of a process, the innermost first."""
    if sys.platform != "linux":
        return ()
    with suppress(OSError):
        return tuple(group for version in _VERSIONS for group in _groups_of(version, proc))
    return ()


def _groups_of(version: _Version, proc: Path) -> Iterator[_Group]:
    places = [line.split(":", 2)[1:] for line in lines_of(proc / "cgroup")]
    own = next((Path(path) for names, path in places if version.controller in names.split(",")), None)
    for line in lines_of(proc / "mountinfo"):
        fields, _, described = line.partition(" - ")
        filesystem, _, options = described.split(" ")  # the second, the mounted device, may be empty
        if own is None or filesystem != version.filesystem or version.controller not in ("", *options.split(",")):
            continue
        root, mount = map(Path, fields.split(" ")[3:5])
        inner = mount / own.relative_to(root) if own.is_relative_to(root) else mount
        for path in (inner, *inner.parents):
            if path.is_relative_to(mount) and (path / version.limit).exists():
                yield _Group(path, version)
        return
