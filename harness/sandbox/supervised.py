"""A worker under Landlock, with the supervisor that ends all it starts, and the scratch directory that they have."""

import os
import shutil
import socket
from contextlib import suppress
from itertools import islice
from pathlib import Path

from harness.sandbox.limits import Limits
from harness.sandbox.processes import Processes, Tree
from harness.sandbox.storage import Storage
from harness.sandbox.zygote import Report

#: Seconds that the removal of a scratch directory may take.
REMOVAL_S = 30.0


class SupervisedBody:
    """A worker, its supervisor, and the scratch directory that they have."""

    def __init__(self, line: socket.socket, scratch: Path, limits: Limits) -> None:
        """Wait for the supervisor's process id; raises `StartError`."""
        self._line, self._scratch, self._limits = line, scratch, limits
        self._report = Report(line.fileno())
        self._free = _free_bytes(scratch)
        self.processes: Processes = Tree(int(self._report.facts["pid"]))

    def storage(self) -> Storage:
        """What is in the scratch directory; and, if the disk has become fuller, in files that have no name there."""
        size, files = measure_directory(str(self._scratch), self._limits.scratch_files)
        with suppress(FileNotFoundError):
            lost = self._free - _free_bytes(self._scratch)
            if lost > self._limits.scratch_bytes:
                size += nameless_bytes(self.processes, str(self._scratch), lost)
        return Storage(size, files)

    def exit_status(self) -> int | None:
        """What the supervisor says of the worker's end."""
        return self._report.exit_status

    def ran_out_of_memory(self) -> bool:
        """The kernel keeps no limit."""
        return False

    def kill(self) -> None:
        """Tell the supervisor to kill everything."""
        with suppress(OSError):
            self._line.shutdown(socket.SHUT_WR)

    def is_gone(self) -> bool:
        """Whether the supervisor has said so: if it was killed itself, nobody knows."""
        self._report.read()
        return "gone" in self._report.facts

    def close(self) -> None:
        """Wait until the scratch directory is removed, which follows the end of the call."""
        self._line.settimeout(REMOVAL_S)
        with suppress(TimeoutError):  # where a process did not end; `Staging` removes the rest
            while self._line.recv(4096):
                pass
        self._line.close()


def measure_directory(directory: str, most_files: int) -> tuple[int, int]:
    """Return bytes on the disk and the number of files of a directory that somebody is writing to.

    Counts no further than to one more than `most_files`, which is also the number where a directory cannot be
    looked into, or is too deep.
    """
    size, files, pending = 0, 0, [directory]
    while pending:
        try:
            with os.scandir(pending.pop()) as entries:
                found = list(islice(entries, most_files - files + 1))
        except (FileNotFoundError, NotADirectoryError):  # it was removed meanwhile
            continue
        except OSError:
            return size, most_files + 1
        files += len(found)
        if files > most_files:  # before anything is asked of each: who makes files is as fast as who looks
            break
        size += sum(map(_bytes_on_disk, found))
        pending += [entry.path for entry in found if entry.is_dir(follow_symlinks=False)]
    return size, files


def _bytes_on_disk(entry: "os.DirEntry[str]") -> int:
    try:
        return entry.stat(follow_symlinks=False).st_blocks * 512
    except OSError:  # it was removed meanwhile, or is so deep that it will be noticed by that
        return 0


def nameless_bytes(processes: Processes, directory: str, lost: int) -> int:
    """Bytes on the disk of files that processes hold, and that were removed.

    Every thread may hold files of its own. Of what is only mapped, or held by a process that keeps others from looking,
    no size is known: it is then all that the disk has `lost`.
    """
    found: dict[tuple[int, int], int] = {}
    try:
        for entry in processes.entries():
            with suppress(FileNotFoundError, ProcessLookupError):  # it has ended meanwhile
                for thread in Path(entry, "task").iterdir():
                    for descriptor in (thread / "fd").iterdir():
                        with suppress(FileNotFoundError):
                            state = descriptor.stat()
                            if not state.st_nlink:
                                found[state.st_dev, state.st_ino] = state.st_blocks * 512
                    maps = (thread / "maps").read_text(errors="replace").splitlines()
                    if any(directory in line and line.endswith(" (deleted)") for line in maps):
                        return lost
    except PermissionError:
        return lost
    return sum(found.values())


def _free_bytes(directory: Path) -> int:
    return shutil.disk_usage(directory).free
