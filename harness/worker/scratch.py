"""Removes directories in which a submission has written."""

import os
import secrets
from contextlib import suppress


def remove(directory: str) -> None:
    """Remove a directory with all contents, of any depth and mode. No process may still write to it.

    Nested directories are first moved up, because the kernel limits the length of a path.
    """
    with suppress(FileNotFoundError):
        while children := [entry.path for entry in os.scandir(directory) if entry.is_dir(follow_symlinks=False)]:
            for path in children:
                _empty(path, directory)
                os.rmdir(path)  # noqa: PTH106
        for entry in os.scandir(directory):
            os.unlink(entry.path)  # noqa: PTH108
        os.rmdir(directory)  # noqa: PTH106


def _empty(path: str, top: str) -> None:
    """Remove the files in the directory `path`, and move its subdirectories to `top`."""
    os.chmod(path, 0o700)  # noqa: PTH101
    for entry in os.scandir(path):
        if entry.is_dir(follow_symlinks=False):
            os.chmod(entry.path, 0o700)  # noqa: PTH101 - needed to move it
            os.rename(entry.path, f"{top}/{secrets.token_hex(16)}")  # noqa: PTH104
        else:
            os.unlink(entry.path)  # noqa: PTH108
