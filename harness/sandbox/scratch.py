"""Creates and measures a call's scratch directory, if the directory has no file system of its own."""

import os
import secrets
from contextlib import suppress
from itertools import islice
from pathlib import Path

from harness.sandbox.processes import Processes


def make_scratch(staging: Path, uid: int | None) -> Path:
    """Return a new scratch directory in `staging`. It belongs to the user `uid` if `uid` is not None."""
    scratch = staging / secrets.token_hex(8)
    scratch.mkdir(mode=0o700)
    if uid is not None:
        staging.chmod(0o711)
        os.chown(scratch, uid, uid)
    return scratch


def measure_directory(directory: str, most_files: int) -> tuple[int, int]:
    """Return the bytes on the disk and the number of files of a directory to which processes are writing.

    Counting stops after `most_files` files. If there are more, or if a subdirectory cannot be listed, the number of
    files is greater than `most_files`.
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
        if files > most_files:  # before the inspection: files may be created as fast as they are inspected
            break
        size += sum(map(_bytes_on_disk, listed))
        pending += [entry.path for entry in listed if entry.is_dir(follow_symlinks=False)]
    return size, files


def _bytes_on_disk(entry: "os.DirEntry[str]") -> int:
    try:
        return entry.stat(follow_symlinks=False).st_blocks * 512
    except OSError:  # removed meanwhile, or a path too long, which `measure_directory` notices
        return 0


def nameless_bytes(processes: Processes, directory: str, lost: int) -> int:
    """Return the bytes on the disk of files that were removed from `directory` while processes keep them open.

    If a process denies access to its open files, or has mapped a removed file into memory, return `lost` instead: the
    number of bytes by which the disk's free space has shrunk.
    """
    sizes: dict[tuple[int, int], int] = {}
    try:
        for entry in processes.entries():
            maps = b""  # the same for all living threads of a process
            for thread in _listed(Path(entry, "task")):
                for descriptor in _listed(thread / "fd"):
                    with suppress(FileNotFoundError, ProcessLookupError):
                        state = descriptor.stat()
                        if not state.st_nlink:
                            sizes[state.st_dev, state.st_ino] = state.st_blocks * 512
                with suppress(FileNotFoundError, ProcessLookupError):
                    maps = maps or (thread / "maps").read_bytes()
            lines = maps.split(b"\n")  # a name may be any bytes but this
            if any(os.fsencode(directory) in line and line.endswith(b" (deleted)") for line in lines):
                return lost
    except PermissionError:
        return lost
    return sum(sizes.values())


def _listed(directory: Path) -> list[Path]:
    """Return the entries of a directory in /proc; empty if its process or thread has ended."""
    with suppress(FileNotFoundError, ProcessLookupError):
        return [*directory.iterdir()]
    return []
