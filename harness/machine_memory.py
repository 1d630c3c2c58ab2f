"""The memory that the harness and its calls may use: the machine's, or less in a control group.

A container, a job of a cluster, or a service may have less memory than the machine.
"""

import functools
import re
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil


@dataclass(frozen=True)
class Memory:
    """Sizes in bytes."""

    total: int
    available: int  #: memory that can be used without swapping
    whose: str = "the machine's"  #: words for messages, or "the control group's"


@dataclass(frozen=True)
class _Version:
    """Names in the file system of a version of Linux' control groups."""

    filesystem: str
    controller: str  #: name in /proc/PID/cgroup, and in the options of the mount
    limit: str
    usage: str
    droppable: re.Pattern[str]  #: lines of memory.stat with bytes of files, which the kernel can drop
    kills: str  #: name of the file with a line `oom_kill N`


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
        text = (self.path / self.version.limit).read_text().strip()
        return int(text) if text.isdecimal() else None

    def available(self, limit: int) -> int:
        """Return the bytes that the group's processes can still use."""
        used = int((self.path / self.version.usage).read_text())
        files = self.version.droppable.findall((self.path / "memory.stat").read_text())
        return limit - used + sum(map(int, files))

    def kills(self) -> int:
        found = re.search(r"^oom_kill (\d+)$", (self.path / self.version.kills).read_text(), re.M)
        return int(found[1]) if found else 0


def usable_memory() -> Memory:
    """Return the machine's memory, limited by the control groups around this process."""
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
    """Return the number of processes in this process' control groups that the kernel killed for lack of memory.

    Return 0 if the number is not known.
    """
    total = 0
    for group in _groups():
        with suppress(OSError):
            total += group.kills()
    return total


@functools.cache  # these groups limit the process even if it moves to a group inside of them
def _groups(proc: Path = Path("/proc/self")) -> tuple[_Group, ...]:
    """Return the control groups of a process that limit memory, from the innermost outwards."""
    if sys.platform != "linux":
        return ()
    with suppress(OSError):
        return tuple(group for version in _VERSIONS for group in _groups_of(version, proc))
    return ()


def _groups_of(version: _Version, proc: Path) -> Iterator[_Group]:
    places = [line.split(":", 2)[1:] for line in (proc / "cgroup").read_text().splitlines()]
    own = next((Path(path) for names, path in places if version.controller in names.split(",")), None)
    for line in (proc / "mountinfo").read_text().splitlines():
        fields, _, described = line.partition(" - ")
        filesystem, _, options = described.split()[:3]
        if own is None or filesystem != version.filesystem or version.controller not in ("", *options.split(",")):
            continue
        root, mount = map(Path, fields.split()[3:5])
        inner = mount / own.relative_to(root) if own.is_relative_to(root) else mount
        for path in (inner, *inner.parents):
            if path.is_relative_to(mount) and (path / version.limit).exists():
                yield _Group(path, version)
        return
