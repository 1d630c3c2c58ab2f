"""Reads a submission from a single file or a folder. It reads only regular files, and never follows links or waits."""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO

from harness.inspector.files import Files, SubmissionError, UnreadableError, check_name, is_leftover

#: Flags of `os.open` for a file, and for a folder, whose descriptor nobody can replace while it is read.
FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
FOLDER = os.O_RDONLY | os.O_NOFOLLOW | os.O_DIRECTORY


def read_file(path: str, files: Files) -> None:
    """Read a single .py file into `files`, as complexity.py."""
    name = os.path.basename(path)  # noqa: PTH119 - pathlib takes as long to import as all the rest
    with reading(""), open_regular(path, name) as stream:
        files.read(name, stream)
    files.contents["complexity.py"] = files.contents.pop(name)


def read_folder(path: str, files: Files) -> None:
    """Read all files in a folder and its subfolders into `files`."""
    with reading(""):
        folder = os.open(path, FOLDER)
    try:
        _read_below(folder, "", files)
    finally:
        os.close(folder)


def _read_below(folder: int, prefix: str, files: Files) -> None:
    names = []
    with reading(prefix), os.scandir(folder) as entries:
        for entry in entries:
            files.count_entry()
            names.append(entry.name)
    for name in sorted(name for name in names if not is_leftover(name)):
        check_name(prefix + name)  # also limits the depth
        with reading(prefix + name):
            if stat.S_ISDIR(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
                below = os.open(name, FOLDER, dir_fd=folder)
                try:
                    _read_below(below, f"{prefix}{name}/", files)
                finally:
                    os.close(below)
            else:
                with open_regular(name, prefix + name, folder) as stream:
                    files.read(prefix + name, stream)


def open_regular(path: str, name: str, folder: int | None = None) -> BinaryIO:
    """Open a regular file in the open directory `folder`. Raise `SubmissionError`, with `name`, for other files."""
    mode = os.stat(path, dir_fd=folder, follow_symlinks=False).st_mode
    if stat.S_ISREG(mode):
        stream = os.fdopen(os.open(path, FILE, dir_fd=folder), "rb")
        mode = os.fstat(stream.fileno()).st_mode
        if stat.S_ISREG(mode):  # checked again: it may have been replaced
            return stream
        stream.close()
    found = "a link" if stat.S_ISLNK(mode) else "a device, pipe or socket"
    raise SubmissionError(f"{name}: expected a regular file, found {found}")


@contextmanager
def reading(name: str) -> Iterator[None]:
    """Replace an `OSError` in the context by an `UnreadableError` about the file `name`; "" means the submission."""
    try:
        yield
    except OSError as error:
        if error.errno == errno.ELOOP and name:  # a link has just replaced the file
            raise SubmissionError(f"{name}: expected a regular file, found a link") from error
        raise UnreadableError(name, error.strerror or str(error)) from error
