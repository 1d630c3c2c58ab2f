"""Which processes a call has: directories of a /proc, in which the kernel describes one process each."""

import os
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import psutil


class Processes(Protocol):
    """The processes of a call, those that it has now."""

    def entries(self) -> list[str]:
        """Their directories."""

    def numbers(self) -> dict[str, int]:
        """Their ids as the harness counts them, by their directories; without those that keep others from looking."""


class Tree:
    """Some processes and all of their descendants, as far as those have not lost their parents to somebody else."""

    def __init__(self, *roots: int) -> None:
        self._roots = roots

    def entries(self) -> list[str]:
        """Follow the parents of all processes of the machine."""
        found: set[int] = set()
        for pid in self._roots:
            with suppress(psutil.NoSuchProcess):
                found |= {pid, *(child.pid for child in psutil.Process(pid).children(recursive=True))}
        return [f"/proc/{pid}" for pid in found]

    def numbers(self) -> dict[str, int]:
        """The ids are the names of the directories."""
        return {entry: int(Path(entry).name) for entry in self.entries()}


class Namespace:
    """All of a process namespace, as the /proc that is mounted inside lists it.

    What a process in it starts is in it, too, whoever its parent is; there is no way out, and none to hide.
    """

    def __init__(self, first: int) -> None:
        """`first` is the first process of the namespace."""
        self._first = first
        self._root: int | None = None

    def root(self) -> str | None:
        """Where the harness finds the sandbox's files; None until all are there: its first process sees the machine's.

        Once it is found, no process inside can keep the harness from looking.
        """
        if self._root is None:
            with suppress(OSError):
                self._root = _own_root(self._first)
        return None if self._root is None else f"/proc/self/fd/{self._root}"

    def entries(self) -> list[str]:
        """List its /proc."""
        root = self.root()
        if root is None:
            return []
        return [f"{root}/proc/{entry.name}" for entry in os.scandir(f"{root}/proc") if entry.name.isdigit()]

    def numbers(self) -> dict[str, int]:
        """Look for the namespace among all processes of the machine."""
        found: dict[str, int] = {}
        with suppress(OSError):
            namespace = Path(f"/proc/{self._first}/ns/pid").readlink()
            for pid in psutil.pids():
                with suppress(OSError):
                    if Path(f"/proc/{pid}/ns/pid").readlink() == namespace:
                        found[f"{self.root()}/proc/{_inner_number(pid)}"] = pid
        return found

    def close(self) -> None:
        """Let go of its files, for good."""
        if self._root is not None:
            os.close(self._root)
        self._first, self._root = 0, None


def _own_root(pid: int) -> int | None:
    """Open the root directory of a process, if that is not the machine's: it has a /proc of its own."""
    root = os.open(f"/proc/{pid}/root", os.O_PATH | os.O_DIRECTORY)
    try:
        if os.stat("proc", dir_fd=root).st_dev != os.stat("/proc").st_dev:  # noqa: PTH116
            return root
    except FileNotFoundError:  # on the way from one to the other
        pass
    os.close(root)
    return None


def _inner_number(pid: int) -> str:
    """The id of a process in its own namespace: the last of those that it has."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(line for line in lines if line.startswith("NSpid:")).split()[-1]


@dataclass(frozen=True)
class Progress:
    """How far processes that were killed have come in ending."""

    left: int  #: how many there are
    ticks: int  #: of processor time that these have used
    runs: bool  #: whether one of them only waits for a processor


def progress(entries: Iterable[str]) -> Progress:
    """Look at what is left: it differs from an earlier look, or something runs, unless all of it is stuck."""
    left, ticks, runs = 0, 0, False
    for entry in entries:
        with suppress(OSError):
            fields = stat_fields(entry)
            left, ticks, runs = left + 1, ticks + sum(map(int, fields[11:13])), runs or fields[0] == "R"
    return Progress(left, ticks, runs)


def stat_fields(entry: str) -> list[str]:
    """What `stat` says of a process after its name: its state is at 0, its processor times are at 11 to 14."""
    with open(f"{entry}/stat", "rb", buffering=0) as file:  # noqa: PTH123
        return file.read(4096).rpartition(b")")[2].decode().split()
