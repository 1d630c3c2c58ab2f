"""Locks a directory, in which one process at a time may work."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import lock_descriptor

from harness.errors import UserError, writing


@contextmanager
def locked_directory(root: Path, lock_file: Path, command: str) -> Iterator[None]:
    """Hold the lock of the directory `root` for a command, which messages name.

    `lock_file` is created with its directory, and removed at the end, as is its directory if it is empty. Raises
    `UserError` if another process holds the lock, or if the file system has no locks.
    """
    with writing(root, remedy="name another directory"):
        lock_file.parent.mkdir(parents=True, exist_ok=True)
        lock = lock_file.open("wb")  # for writing, since some network file systems lock only such files
    with lock:
        try:
            # Another command may have removed the file since it was opened.
            is_ours = lock_descriptor(lock.fileno(), blocking=False) and _is_at(lock_file, lock.fileno())
        except OSError as error:
            raise UserError("cannot be locked", file=lock_file, found=error.strerror) from error
        if not is_ours:
            raise UserError(f"another {command} is at work here", file=root, remedy="wait until it has ended")
        try:
            yield
        finally:
            if sys.platform == "win32":  # where an open file cannot be removed
                lock.close()
            with suppress(OSError):  # unless the directory has files of an unfinished command
                lock_file.unlink()
                lock_file.parent.rmdir()


def _is_at(file: Path, descriptor: int) -> bool:
    return file.exists() and os.path.samestat(file.stat(), os.fstat(descriptor))
