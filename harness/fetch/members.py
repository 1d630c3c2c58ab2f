"""What may be taken from an archive of unknown origin: regular files inside of it, each once, within limits."""

import stat
from pathlib import PurePosixPath
from zipfile import ZipInfo

from harness.text import printable

#: Largest archive, and largest total of its files, in bytes; largest number of files.
MAX_ARCHIVE, MAX_BYTES, MAX_FILES = 32 * 1024**3, 128 * 1024**3, 500_000

#: Most bytes of the list of files in a zip archive, which takes ten times as much memory.
MAX_LIST = 48 * 1024**2


class BadArchiveError(Exception):
    """The archive cannot be unpacked; the message is one line."""


def checked_path(name: str) -> PurePosixPath:
    """Return the path of a member; raises `BadArchiveError` unless it stays inside the archive and is printable."""
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or not path.parts or not name.isprintable() or "\\" in name:
        raise BadArchiveError(f"{shown(name)}: expected a path inside the archive")
    return path


def require_regular(entry: ZipInfo) -> None:
    """Raise `BadArchiveError` for a link or device; files without a mode count as regular."""
    if stat.S_IFMT(entry.external_attr >> 16) not in (0, stat.S_IFREG, stat.S_IFDIR):
        raise BadArchiveError(f"{shown(entry.filename)}: expected a regular file")


def shown(name: str) -> str:
    """Return the name of a member for messages."""
    return printable(name)[:80]
