"""A private directory beside tasks, in which a command makes new tasks."""

import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from harness.directory_lock import locked_directory
from harness.errors import UserError
from harness.format.files import lasting_if_filled


@contextmanager
def workplace(parent: Path, name: str, command: str) -> Iterator[Path]:
    """Yield an empty directory below `parent/NAME`; it exists only in the context.

    `name` begins with a dot, so that other commands ignore the directory. Files that a killed command has left there
    are removed. `parent` is created if necessary, and removed if it is still empty at the end. Raises `UserError` if
    another process works there, or if other users can write there; the message names `command`.
    """
    private = parent / name
    place = private / "files"
    with lasting_if_filled(parent):
        _make_private(private)
        with locked_directory(private, private / "lock", command):
            shutil.rmtree(place, ignore_errors=True)
            place.mkdir()
            try:
                yield place
            finally:
                shutil.rmtree(place, ignore_errors=True)


def _make_private(directory: Path) -> None:
    """Create a directory if it is missing. Raise `UserError` unless this user owns it, and nobody else can write to it.

    Another user may have created the directory, if all users can write to its parent.
    """
    with suppress(FileExistsError):
        directory.mkdir(mode=0o700)
    found = directory.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & 0o022:
        raise UserError("others may change what is here", file=directory, remedy="remove it, or name another directory")
