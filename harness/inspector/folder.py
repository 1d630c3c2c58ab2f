"""Reads a single file or a folder: regular files only, without following links or blocking."""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager

from harness.inspector.files import IGNORED, Files, check_name
from harness.inspector.problems import SubmissionError, UnreadableError

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW


def read_file(path: str, files: Files) -> None:
    """Read a single .py file as the complexity.py of a submission."""
    name = os.path.basename(path)  # noqa: PTH119 - pathlib takes as long to import as all the rest
    with _reading(""):
        _read_regular(path, name, files)
    files.contents["complexity.py"] = files.contents.pop(name)


def read_folder(path: str, files: Files) -> None:
    """Read the regular files of a folder and its subfolders."""
    with _reading(""):
        folder = os.open(path, _FOLDER)
    try:
        _read_below(folder, "", files)
    finally:
        os.close(folder)


def _read_below(folder: int, prefix: str, files: Files) -> None:
    names = []
    with _reading(prefix), os.scandir(folder) as entries:
        for entry in entries:
            files.count_entry()
            names.append(entry.name)
    for name in sorted(set(names) - set(IGNORED)):
        check_name(prefix + name)  # this bounds the depth
        with _reading(prefix + name):
            if stat.S_ISDIR(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
                below = os.open(name, _FOLDER, dir_fd=folder)
                try:
                    _read_below(below, f"{prefix}{name}/", files)
                finally:
                    os.close(below)
            else:
                _read_regular(name, prefix + name, files, folder)


def _read_regular(path: str, name: str, files: Files, folder: int | None = None) -> None:
    """Read the file `path` in `folder` as `name`."""
    mode = os.stat(path, dir_fd=folder, follow_symlinks=False).st_mode
    if stat.S_ISREG(mode):
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
        with os.fdopen(descriptor, "rb") as stream:
            mode = os.fstat(descriptor).st_mode
            if stat.S_ISREG(mode):  # checked again: it may have been replaced
                files.read(name, stream)
                return
    found = "a link" if stat.S_ISLNK(mode) else "a device, pipe or socket"
    raise SubmissionError(f"{name}: expected a regular file, found {found}")


@contextmanager
def _reading(name: str) -> Iterator[None]:
    """Name the file if the system refuses to read it."""
    try:
        yield
    except OSError as error:
        if error.errno == errno.ELOOP:  # it has just been replaced by a link
            raise SubmissionError(f"{name}: expected a regular file, found a link") from error
        raise UnreadableError(name, error.strerror or str(error)) from error
