"""Reads the list of files at the end of an untrusted zip archive, and finds the files of tasks."""

import hashlib
import re
import stat
import zipfile
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import IO
from zipfile import ZipInfo

from harness.credentials import Address
from harness.errors import UserError
from harness.format.archive import DAMAGE, require_plain
from harness.format.files import MAX_JSON
from harness.format.layout import CONFIG, INPUTS, REFERENCE, REFERENCES, WEIGHTS
from harness.hints import did_you_mean
from harness.inspector.files import is_leftover
from harness.text import printable

#: Maximum size of an archive, and of its files together, in bytes; maximum number of files.
MAX_ARCHIVE, MAX_BYTES, MAX_FILES = 32 * 1024**3, 128 * 1024**3, 500_000

#: Maximum size in bytes of the list of files in a zip archive, which takes ten times as much memory.
MAX_LIST = 48 * 1024**2

#: Path of a file of a task; it may be inside a directory that contains the whole archive.
_MEMBER = re.compile(rf"/?(?:[^/]+/)?({INPUTS}|{REFERENCES})/([^/]+)/(.+)", re.DOTALL)

#: Paths of files that belong to a task; other files, such as those of a file browser, are ignored.
_FILE = re.compile(
    r"(?!\.)[^/]*model[^/]*/(?:config\.json|weights\.hdf5|weights_init\.hdf5)|dataset_1/(?:train|test)/shard_[^/]+\.tfrecord"
)


class BadArchiveError(Exception):
    """The archive cannot be unpacked. The message is one line."""


def checked_path(name: str) -> PurePosixPath:
    """Return the path of a member; raises `BadArchiveError` if it leads outside the archive or is not printable."""
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or not path.parts or not name.isprintable() or "\\" in name:
        raise BadArchiveError(f"{printable_name(name)}: expected a path inside the archive")
    return path


def require_regular(entry: ZipInfo) -> None:
    """Raise `BadArchiveError` for a link or device. A member without a Unix file mode is taken as a regular file."""
    if stat.S_IFMT(entry.external_attr >> 16) not in (0, stat.S_IFREG, stat.S_IFDIR):
        raise BadArchiveError(f"{printable_name(entry.filename)}: expected a regular file")


def printable_name(name: str) -> str:
    """Return a member's name for messages."""
    return printable(name)[:80]


@dataclass(frozen=True)
class ListedFile:
    """A file of a task in an archive."""

    path: str  #: path in the directory of the task, or `model_configs.json`
    entry: ZipInfo

    @property
    def model(self) -> str | None:
        """Id of the model to which the file belongs; None for data and reference data."""
        head, _, name = self.path.partition("/")
        return head if name and not head.startswith("dataset") else None


@dataclass(frozen=True)
class Listing:
    """The files of tasks in a zip archive, and the positions of all members."""

    tasks: dict[str, dict[str, ListedFile]]  #: task -> path -> file; empty for tasks that are not wanted
    sha256: str  #: digest of names, sizes and checksums of all members
    boundaries: Sequence[int]  #: ascending positions where members begin, and finally where the list begins

    def span(self, member: ListedFile) -> int:
        """Return the number of bytes that a member takes in the archive, including the header before its content."""
        begin = member.entry.header_offset
        return self.boundaries[bisect_right(self.boundaries, begin)] - begin

    def of(self, task: str, url: Address) -> dict[str, ListedFile]:
        """Return path -> file of a task; raises `UserError` if the task is missing or incomplete."""
        if task not in self.tasks:
            found = printable(", ".join(sorted(self.tasks))[:200]) or "no task"
            hint = did_you_mean(task, self.tasks)
            raise UserError(
                "another archive than the catalogue says", file=url, expected=task, found=found, remedy=hint
            )
        members = self.tasks[task]
        models = dict.fromkeys(member.model for member in members.values() if member.model)
        needed = [REFERENCE, *(f"{model}/{name}" for model in models for name in (CONFIG, WEIGHTS))]
        missing = [path for path in needed if path not in members]
        if not models:
            missing.append("model_*")
        if not any(path.startswith("dataset_1/train/") for path in members):
            missing.append("dataset_1/train/shard_*.tfrecord")
        if missing:
            raise UserError(f"no whole task {task}", file=url, expected=missing[0], found="no such member")
        return members


def read_listing(file: IO[bytes], tasks: Iterable[str], url: Address) -> Listing:
    """Return the files of `tasks` in a zip; raises `UserError` if the zip is damaged, too large, or has links."""
    wanted = set(tasks)
    try:
        with zipfile.ZipFile(file) as archive:
            entries, directory = archive.infolist(), archive.start_dir
        if not all(0 <= entry.header_offset < directory for entry in entries):
            raise BadArchiveError("a member that begins outside of the archive")
        if len(entries) > MAX_FILES:
            raise BadArchiveError(f"expected at most {MAX_FILES} files, found {len(entries)}")
        found: dict[str, dict[str, ListedFile]] = {}
        for entry in entries:
            match = _MEMBER.fullmatch(entry.filename)
            if match and not any(map(is_leftover, entry.filename.split("/"))) and not entry.is_dir():
                members = found.setdefault(match[2], {})
                if match[2] in wanted:
                    _add(members, entry, match[1], match[3])
        _require_bounded(member for task in wanted & found.keys() for member in found[task].values())
    except BadArchiveError as error:
        raise UserError(f"cannot be unpacked: {error}", file=url) from error
    except DAMAGE as error:
        what = printable(str(error))[:200]
        raise UserError("damaged", file=url, expected="the directory of a zip archive", found=what) from error
    lines = (f"{entry.filename}\0{entry.file_size}\0{entry.CRC}\n" for entry in entries)
    digest = hashlib.sha256("".join(lines).encode("utf-8", "surrogateescape")).hexdigest()
    return Listing(found, digest, sorted([directory, *(entry.header_offset for entry in entries)]))


def _add(members: dict[str, ListedFile], entry: ZipInfo, part: str, path: str) -> None:
    checked_path(entry.filename)
    require_regular(entry)
    if not (path == REFERENCE if part == REFERENCES else _FILE.fullmatch(path)):
        return
    if path in members:
        raise BadArchiveError(f"two files of one name: {printable_name(path)}")
    require_plain(entry)
    members[path] = ListedFile(path, entry)


def _require_bounded(members: Iterable[ListedFile]) -> None:
    total = 0
    for member in members:
        total += member.entry.file_size
        if member.path == REFERENCE and member.entry.file_size > MAX_JSON:  # it is read into memory
            raise BadArchiveError(f"{REFERENCE}: expected at most {MAX_JSON} bytes")
    if total > MAX_BYTES:
        raise BadArchiveError(f"expected at most {MAX_BYTES / 1024**3:g} GiB of files, found more")
