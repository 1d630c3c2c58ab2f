"""A lock that lets only one process at a time work in a directory."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import lock_descriptor

from harness.errors import UserError, writing


@contextmanager
def locked_directory(root: Path, lock_file: Path, command: str) -> Iterator[None]:
    """Hold the lock of a directory within the context.

    Args:
        root: the locked directory, for messages.
        lock_file: file of the lock. It is created, with its directory, which is removed at the end if it is empty.
        command: the command that holds the lock, for messages.

    Raises:
        UserError: another process holds the lock, or the file system has no locks.
    """
    with writing(root, remedy="name another directory"):
        lock_file.parent.mkdir(parents=True, exist_ok=True)
        lock = lock_file.open("wb")  # some network file systems lock only files that are open for writing
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
