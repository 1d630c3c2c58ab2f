"""Lists the processes of a call, as directories of /proc."""

import os
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import psutil


class Processes(Protocol):
    """The current processes of a call."""

    def entries(self) -> list[str]:
        """Return the directories of the processes in /proc."""

    def numbers(self) -> dict[str, int]:
        """Return the IDs in the harness' PID namespace, by directory; without processes that deny access."""


class Tree:
    """Some processes and their descendants, except those adopted by a process outside."""

    def __init__(self, *roots: int) -> None:
        self._roots = roots

    def entries(self) -> list[str]:
        """Search all processes of the machine for descendants."""
        pids: set[int] = set()
        for pid in self._roots:
            with suppress(psutil.NoSuchProcess):
                pids |= {pid, *(child.pid for child in psutil.Process(pid).children(recursive=True))}
        return [f"/proc/{pid}" for pid in pids]

    def numbers(self) -> dict[str, int]:
        """Return the names of the directories, which are the IDs."""
        return {entry: int(Path(entry).name) for entry in self.entries()}


class Namespace:
    """All processes of a PID namespace, as listed by the /proc that is mounted inside.

    Every descendant of the namespace's processes belongs to it, even if adopted; no process can leave it or hide.
    """

    def __init__(self, first: int) -> None:
        """`first` is the ID, outside the namespace, of its PID 1."""
        self._first = first
        self._root: int | None = None

    def root(self) -> str | None:
        """Return the path to the sandbox's root directory; None until PID 1 has left the machine's root directory.

        After the directory has been opened, no process inside can deny the harness access to it.
        """
        if self._root is None:
            with suppress(OSError):
                self._root = _own_root(self._first)
        return None if self._root is None else f"/proc/self/fd/{self._root}"

    def entries(self) -> list[str]:
        """List the /proc of the namespace."""
        root = self.root()
        if root is None:
            return []
        return [f"{root}/proc/{entry.name}" for entry in os.scandir(f"{root}/proc") if entry.name.isdigit()]

    def numbers(self) -> dict[str, int]:
        """Search all processes of the machine for members of the namespace."""
        numbers: dict[str, int] = {}
        with suppress(OSError):
            namespace = Path(f"/proc/{self._first}/ns/pid").readlink()
            for pid in psutil.pids():
                with suppress(OSError):
                    if Path(f"/proc/{pid}/ns/pid").readlink() == namespace:
                        numbers[f"{self.root()}/proc/{_inner_number(pid)}"] = pid
        return numbers

    def close(self) -> None:
        """Close the root directory, for good."""
        if self._root is not None:
            os.close(self._root)
        self._first, self._root = 0, None


def _own_root(pid: int) -> int | None:
    """Open the root directory of a process; None while it is the machine's, recognised by its /proc."""
    root = os.open(f"/proc/{pid}/root", os.O_PATH | os.O_DIRECTORY)
    try:
        if os.stat("proc", dir_fd=root).st_dev != os.stat("/proc").st_dev:  # noqa: PTH116
            return root
    except FileNotFoundError:  # the process is changing its root
        pass
    os.close(root)
    return None


def _inner_number(pid: int) -> str:
    """Return the ID of a process in its own PID namespace, the last in the list."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(line for line in lines if line.startswith("NSpid:")).split()[-1]


@dataclass(frozen=True)
class KillProgress:
    """The state of killed processes that have not ended yet."""

    left: int  #: number of processes
    ticks: int  #: clock ticks of processor time that they have used
    runs: bool  #: whether a process is runnable


def progress(entries: Iterable[str]) -> KillProgress:
    """Return the state of the remaining processes: unless all are stuck, it changes or a process is runnable."""
    left, ticks, runs = 0, 0, False
    for entry in entries:
        with suppress(OSError):  # without /proc, the state of a remaining process is not known
            fields = stat_fields(entry)
            left, ticks, runs = left + 1, ticks + sum(map(int, fields[11:13])), runs or fields[0] == "R"
    return KillProgress(left, ticks, runs)


def stat_fields(entry: str) -> list[str]:
    """Return the fields of `stat` after the process' name: state 0, processor times 11 to 14, threads 17."""
    with open(f"{entry}/stat", "rb", buffering=0) as file:  # noqa: PTH123
        return file.read(4096).rpartition(b")")[2].decode().split()
