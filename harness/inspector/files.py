"""Collects the files of a submission within limits, and checks their names."""

import unicodedata
from collections.abc import Collection, Iterable
from typing import IO

from harness.inspector.limits import MAX_BYTES, MAX_ENTRIES, MAX_FILES, MAX_NAME, MAX_PART

#: Files and folders that systems and tools create, in lower case. They never belong to a submission, a task or data.
_LEFTOVERS = ("__macosx", "__pycache__", ".ds_store", ".git", "desktop.ini", "thumbs.db")

#: Beginning of the names of files that macOS creates beside other files on foreign disks.
_RESOURCE_FORK = "._"

#: Number of bytes per read.
CHUNK = 1024**2


class SubmissionError(Exception):
    """The submission cannot be run. The message says what the harness expected and what it found."""


class UnreadableError(Exception):
    """The system refuses to read a file. `file` is its name in the submission, or "" for the submission itself."""

    def __init__(self, file: str, reason: str) -> None:
        super().__init__(f"{file}: {reason}")
        self.file, self.reason = file, reason


def is_leftover(name: str) -> bool:
    """Return whether systems or tools, not participants, create files or folders of this name, such as .DS_Store.

    These files and folders are not read.
    """
    return name.lower() in _LEFTOVERS or name.startswith(_RESOURCE_FORK)


class Files:
    """The names and contents of a submission's files. Methods raise `SubmissionError` if a limit is exceeded."""

    def __init__(self) -> None:
        self.contents: dict[str, bytes] = {}
        self._bytes, self._entries = 0, 0

    def count_entry(self) -> None:
        """Count a file or folder towards the limit, even if it is not read."""
        self._entries += 1
        if self._entries > MAX_ENTRIES:
            raise SubmissionError(f"expected at most {MAX_ENTRIES} files and folders, found more")

    def read(self, name: str, stream: IO[bytes]) -> None:
        """Read a file to its end. Limits apply to the bytes that are read, not to a stated size."""
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
    """Return the top folder if it contains all files, with `complexity.py` directly in it; otherwise ""."""
    top, *others = {name.partition("/")[0] for name in names} or {""}
    return top if not others and f"{top}/complexity.py" in names else ""


def check_name(name: str) -> None:
    """Raise `SubmissionError` for a file's name that some file systems do not support: a later copy could fail."""
    parts = name.split("/")
    if not name.isprintable() or len(name) > MAX_NAME or any(len(part.encode()) > MAX_PART for part in parts):
        raise SubmissionError(f"{name[:80]}: expected a name of at most {MAX_PART} printable characters")
    if any(part in ("", ".", "..") for part in parts):
        raise SubmissionError(f"{name}: expected the name of a file")


def check_names(names: Iterable[str]) -> None:
    """Raise `SubmissionError` if two of these names cannot exist together on some file system."""
    known: dict[str, str] = {}
    for name in names:
        check_name(name)
        if known.setdefault(unicodedata.normalize("NFC", name), name) != name:
            raise SubmissionError(f"{name}: expected one file of that name, found two that look alike")
    for name in known.values():
        parts = name.split("/")
        if any("/".join(parts[:depth]) in known for depth in range(1, len(parts))):
            raise SubmissionError(f"{name}: expected a file, found a directory of the same name")
