"""A lock that lets only one process at a time work in a directory."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import lock_descriptor

from harness.errors import UserError, writing


@contextmanager
def locked_directory(root: Path, lock_file: Path, command: str) -> Iterator[None]:
    """Lock the directory `root` within the context; `command` is the command's name in messages.

    Raise `UserError` if another process has locked it, or if the file system has no locks. At the end, `lock_file` is
    removed, and its directory as well if nothing else is in it.
    """
    with writing(root, remedy="name another directory"):
        lock_file.parent.mkdir(parents=True, exist_ok=True)
        lock = lock_file.open("wb")  # some network file systems lock only files that are open for writing
    with lock:
        try:
            # Another command may have removed the file after it was opened.
            is_ours = (
                lock_descriptor(lock.fileno(), blocking=False)
                and lock_file.exists()
                and os.path.samestat(lock_file.stat(), os.fstat(lock.fileno()))
            )
        except OSError as error:
            raise UserError("cannot be locked", file=lock_file, found=error.strerror) from error
        if not is_ours:
            raise UserError(f"another {command} is at work here", file=root, remedy="wait until it has ended")
        try:
            yield
        finally:
            with suppress(OSError):  # it is not empty if a command was interrupted
                lock_file.unlink()
                lock_file.parent.rmdir()
