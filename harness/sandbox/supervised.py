"""A running Landlock sandbox: a worker, its supervisor and its scratch directory."""

import os
import shutil
import socket
from contextlib import suppress
from itertools import islice
from pathlib import Path

from harness.sandbox.body import Body, Storage
from harness.sandbox.limits import Limits
from harness.sandbox.processes import Processes, Tree
from harness.sandbox.zygote import WorkerReport, Zygote

#: Seconds that the removal of a scratch directory may take.
REMOVAL_S = 30.0


class SupervisedBody(Body):
    """A worker, the supervisor that ends all its processes, and their scratch directory."""

    def __init__(self, line: socket.socket, scratch: Path, limits: Limits, zygote: Zygote) -> None:
        """Wait for the supervisor's process ID; raises `StartError`."""
        self._line, self._scratch, self._limits = line, scratch, limits
        self._report = WorkerReport(line.fileno(), zygote)
        self._free = _free_bytes(scratch)
        self.processes = Tree(int(self._report.facts["pid"]))

    def storage(self) -> Storage:
        """Return the usage of the scratch directory, including removed files if the disk has lost free space."""
        size, files = measure_directory(str(self._scratch), self._limits.scratch_files)
        with suppress(FileNotFoundError):
            lost = self._free - _free_bytes(self._scratch)
            if lost > self._limits.scratch_bytes:
                size += nameless_bytes(self.processes, str(self._scratch), lost)
        return Storage(size, files)

    def exit_status(self) -> int | None:
        """Return the worker's exit status as reported by the supervisor."""
        return self._report.exit_status

    def kill(self) -> None:
        """Tell the supervisor to kill everything."""
        with suppress(OSError):
            self._line.shutdown(socket.SHUT_WR)

    def is_gone(self) -> bool:
        """Return whether the supervisor has reported the end; if it was killed itself, the end stays unknown."""
        self._report.read()
        return "gone" in self._report.facts

    def close(self) -> None:
        """Wait until the supervisor has removed the scratch directory."""
        self._line.settimeout(REMOVAL_S)
        with suppress(TimeoutError):  # a process did not end; `Staging` removes the directory later
            while self._line.recv(4096):
                pass
        self._line.close()


def measure_directory(directory: str, most_files: int) -> tuple[int, int]:
    """Return bytes on the disk and the number of files of a directory that is being written to.

    Counting stops at `most_files` + 1 files, which is also returned where a directory cannot be listed or its path is
    too long.
    """
    size, files, pending = 0, 0, [directory]
    while pending:
        try:
            with os.scandir(pending.pop()) as entries:
                listed = list(islice(entries, most_files - files + 1))
        except (FileNotFoundError, NotADirectoryError):  # it has been removed
            continue
        except OSError:
            return size, most_files + 1
        files += len(listed)
        if files > most_files:  # before any is inspected: files are created as fast as they are inspected
            break
        size += sum(map(_bytes_on_disk, listed))
        pending += [entry.path for entry in listed if entry.is_dir(follow_symlinks=False)]
    return size, files


def _bytes_on_disk(entry: "os.DirEntry[str]") -> int:
    try:
        return entry.stat(follow_symlinks=False).st_blocks * 512
    except OSError:  # it has been removed, or its path is too long, which `measure_directory` notices
        return 0


def nameless_bytes(processes: Processes, directory: str, lost: int) -> int:
    """Return bytes on the disk of removed files that processes keep open.

    Every thread may have its own descriptors. The size of a file that is only mapped, or kept open by a process that
    denies access, is unknown; the result is then `lost`, the space that the disk has lost.
    """
    sizes: dict[tuple[int, int], int] = {}
    try:
        for entry in processes.entries():
            with suppress(FileNotFoundError, ProcessLookupError):  # it has ended
                for thread in Path(entry, "task").iterdir():
                    for descriptor in (thread / "fd").iterdir():
                        with suppress(FileNotFoundError):
                            state = descriptor.stat()
                            if not state.st_nlink:
                                sizes[state.st_dev, state.st_ino] = state.st_blocks * 512
                    maps = (thread / "maps").read_text(errors="replace").splitlines()
                    if any(directory in line and line.endswith(" (deleted)") for line in maps):
                        return lost
    except PermissionError:
        return lost
    return sum(sizes.values())


def _free_bytes(directory: Path) -> int:
    return shutil.disk_usage(directory).free
