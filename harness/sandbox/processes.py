"""Lists the processes of a call, each by its directory in /proc."""

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
        """Return directory in /proc -> process ID outside the sandbox. Processes that deny access are left out."""


class Tree:
    """Some processes and their descendants, except descendants that another process has adopted."""

    def __init__(self, *roots: int) -> None:
        self._roots = roots

    def entries(self) -> list[str]:
        """Return the directories of the processes and of their present descendants."""
        pids: set[int] = set()
        for pid in self._roots:
            with suppress(psutil.NoSuchProcess):
                pids |= {pid, *(child.pid for child in psutil.Process(pid).children(recursive=True))}
        return [f"/proc/{pid}" for pid in pids]

    def numbers(self) -> dict[str, int]:
        """Return directory in /proc -> process ID."""
        return {entry: int(Path(entry).name) for entry in self.entries()}


class Namespace:
    """All processes of a PID namespace, listed from the namespace's own /proc. No process can leave the namespace."""

    def __init__(self, first: int) -> None:
        """`first` is the ID, outside the namespace, of the process with PID 1 inside."""
        self._first = first
        self._root: int | None = None

    def root(self) -> str | None:
        """Return a path to the sandbox's root directory; None until PID 1 has left the machine's root directory.

        The path leads through an open descriptor, so no process inside can deny the harness access.
        """
        if self._root is None:
            with suppress(OSError):
                self._root = _own_root(self._first)
        return None if self._root is None else f"/proc/self/fd/{self._root}"

    def entries(self) -> list[str]:
        """Return the directories of the processes in the namespace's own /proc; empty until that /proc is mounted."""
        root = self.root()
        if root is None:
            return []
        return [f"{root}/proc/{entry.name}" for entry in os.scandir(f"{root}/proc") if entry.name.isdigit()]

    def numbers(self) -> dict[str, int]:
        """Return directory in the namespace's own /proc -> process ID outside the namespace."""
        numbers: dict[str, int] = {}
        with suppress(OSError):
            namespace = Path(f"/proc/{self._first}/ns/pid").readlink()
            for pid in psutil.pids():
                with suppress(OSError):
                    if Path(f"/proc/{pid}/ns/pid").readlink() == namespace:
                        numbers[f"{self.root()}/proc/{_inner_number(pid)}"] = pid
        return numbers

    def close(self) -> None:
        """Close the root directory; `root` then returns None."""
        if self._root is not None:
            os.close(self._root)
        self._first, self._root = 0, None


def _own_root(pid: int) -> int | None:
    """Return a descriptor of a process' root directory; None if the machine's /proc is still mounted there."""
    root = os.open(f"/proc/{pid}/root", os.O_PATH | os.O_DIRECTORY)
    try:
        if os.stat("proc", dir_fd=root).st_dev != os.stat("/proc").st_dev:  # noqa: PTH116
            return root
    except FileNotFoundError:  # the process is changing its root
        pass
    os.close(root)
    return None


def _inner_number(pid: int) -> str:
    lines = Path(f"/proc/{pid}/status").read_bytes().split(b"\n")  # the name of a process may be any bytes but this
    return next(line for line in lines if line.startswith(b"NSpid:")).split()[-1].decode()


@dataclass(frozen=True)
class KillProgress:
    """The state of the processes that remain in a killed sandbox. As long as the state changes, the kill progresses."""

    left: int  #: number of processes
    ticks: int  #: clock ticks of processor time that the processes have used
    runs: bool  #: whether a process can run, because it waits for nothing


def progress(entries: Iterable[str]) -> KillProgress:
    """Return the state of killed processes, from their directories in /proc.

    The processes are stuck if two calls return the same state, in which none of them can run.
    """
    left, ticks, runs = 0, 0, False
    for entry in entries:
        with suppress(OSError):  # the process has ended, or the system has no /proc
            fields = stat_fields(entry)
            left, ticks, runs = left + 1, ticks + sum(map(int, fields[11:13])), runs or fields[0] == "R"
    return KillProgress(left, ticks, runs)


def stat_fields(entry: str) -> list[str]:
    """Return the fields after the name in /proc/PID/stat: state (0), processor times (11 to 14), threads (17)."""
    with open(f"{entry}/stat", "rb", buffering=0) as file:  # noqa: PTH123
        return file.read(4096).rpartition(b")")[2].decode().split()
