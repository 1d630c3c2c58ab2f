"""A private directory beside tasks, in which a command makes new tasks."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from harness.directory_lock import locked_directory
from harness.format.files import lasting_if_filled


@contextmanager
def workplace(parent: Path, name: str, command: str) -> Iterator[Path]:
    """Yield an empty directory below `parent/NAME`, which exists only in the context.

    `name` begins with a dot, so that other commands ignore the directory. Files that a killed command has left there
    are removed. `parent` is created if necessary, and removed if it is still empty at the end. Raises `UserError` if
    another process works there; `command` is the command's name in the message.
    """
    private = parent / name
    place = private / "files"
    with lasting_if_filled(parent), locked_directory(private, private / "lock", command):
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        try:
            yield place
        finally:
            shutil.rmtree(place, ignore_errors=True)
