"""Collects the files of a submission within limits, and validates their names."""

import unicodedata
from collections.abc import Collection, Iterable
from typing import IO

from harness.inspector.limits import MAX_BYTES, MAX_ENTRIES, MAX_FILES, MAX_NAME, MAX_PART

#: Files and folders that systems and tools leave behind, in lower case; never part of a submission, a task or data.
_LEFTOVERS = ("__macosx", "__pycache__", ".ds_store", ".git", "desktop.ini", "thumbs.db")

#: Prefix of the names of files that macOS writes beside other files on foreign disks.
_RESOURCE_FORK = "._"

#: Number of bytes per read.
CHUNK = 1024**2


class SubmissionError(Exception):
    """The submission cannot be run. The message names the expected and the found content."""


class UnreadableError(Exception):
    """The system refuses to read a file. The user of the harness can mend this.

    `file` is the name of the file in the submission; empty for the submitted folder, zip or single file itself.
    """

    def __init__(self, file: str, reason: str) -> None:
        super().__init__(f"{file}: {reason}")
        self.file, self.reason = file, reason


def is_leftover(name: str) -> bool:
    """Return whether a file or folder is a leftover, which is never read; `name` is its name without a path."""
    return name.lower() in _LEFTOVERS or name.startswith(_RESOURCE_FORK)


class Files:
    """The names and contents of a submission's files. Methods raise `SubmissionError` beyond the limits."""

    def __init__(self) -> None:
        self.contents: dict[str, bytes] = {}
        self._bytes, self._entries = 0, 0

    def count_entry(self) -> None:
        """Count an entry of the folder or zip, even if it is left out."""
        self._entries += 1
        if self._entries > MAX_ENTRIES:
            raise SubmissionError(f"expected at most {MAX_ENTRIES} files and folders, found more")

    def read(self, name: str, stream: IO[bytes]) -> None:
        """Read a file to its end. Limits apply to the bytes that are read, not to a declared size."""
        if name in self.contents:
            raise SubmissionError(f"{name}: expected one file of that name, found two")
        if len(self.contents) >= MAX_FILES:
            raise SubmissionError(f"expected at most {MAX_FILES} files, found more")
        content = bytearray()
        while chunk := stream.read(min(CHUNK, MAX_BYTES + 1 - self._bytes)):
            self._bytes += len(chunk)
            if self._bytes > MAX_BYTES:
                raise SubmissionError(f"{name}: expected at most {MAX_BYTES // 1024**2} MiB in all, found more")
            content += chunk
        self.contents[name] = bytes(content)


def only_folder(names: Collection[str]) -> str:
    """Return the top folder that contains all files if `complexity.py` is directly in it; otherwise an empty text."""
    top, *others = {name.partition("/")[0] for name in names} or {""}
    return top if not others and f"{top}/complexity.py" in names else ""


def check_name(name: str) -> None:
    """Raise `SubmissionError` for a file's name that not every file system supports: a later copy could fail."""
    parts = name.split("/")
    if not name.isprintable() or len(name) > MAX_NAME or any(len(part.encode()) > MAX_PART for part in parts):
        raise SubmissionError(f"{name[:80]}: expected a name of at most {MAX_PART} printable characters")
    if any(part in ("", ".", "..") for part in parts):
        raise SubmissionError(f"{name}: expected the name of a file")


def check_names(names: Iterable[str]) -> None:
    """Raise `SubmissionError` unless files with these names can coexist on any file system."""
    known: dict[str, str] = {}
    for name in names:
        check_name(name)
        if known.setdefault(unicodedata.normalize("NFC", name), name) != name:
            raise SubmissionError(f"{name}: expected one file of that name, found two that look alike")
    for name in known.values():
        parts = name.split("/")
        if any("/".join(parts[:depth]) in known for depth in range(1, len(parts))):
            raise SubmissionError(f"{name}: expected a file, found a directory of the same name")
