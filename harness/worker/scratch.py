"""Removes a directory to which a submission has written."""

import os
import secrets
from contextlib import suppress


def remove(directory: str) -> None:
    """Remove a directory and its contents, whatever their depth and modes. Processes must not write to it any more.

    Nested directories are first moved up, because a deep path would be too long for the kernel.
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
    """Remove the files in a directory, and move the directories in it to `top`."""
    os.chmod(path, 0o700)  # noqa: PTH101
    for entry in os.scandir(path):
        if entry.is_dir(follow_symlinks=False):
            os.chmod(entry.path, 0o700)  # noqa: PTH101 - needed to move it
            os.rename(entry.path, f"{top}/{secrets.token_hex(16)}")  # noqa: PTH104
        else:
            os.unlink(entry.path)  # noqa: PTH108
