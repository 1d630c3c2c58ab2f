"""The files of a bundle that is being checked, those in archives among them, too."""

import shutil
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import IO

from harness.errors import UserError
from harness.format.archive import file_infos, names, open_info, open_member, open_zip, require_proportion

#: Most bytes of the list of members of an archive in a bundle, and of a page or logo.
MAX_LIST, MAX_FILE = 16 * 1024**2, 64 * 1024**2

#: Most files of a bundle, those in archives among them.
MAX_FILES = 500_000

#: What files with the same content have in common: checksum and size.
Mark = tuple[int, int]


@dataclass(frozen=True)
class Member:
    """A file of an archive."""

    archive: zipfile.ZipFile
    info: zipfile.ZipInfo

    @property
    def mark(self) -> Mark:
        """What files with the same content have in common."""
        return self.info.CRC, self.info.file_size

    def read(self, most: int) -> bytes:
        """Return its content; raises `ValueError` if that is longer than `most` bytes."""
        with open_info(self.archive, self.info) as stream:
            content = stream.read(most + 1)
        if len(content) > most:
            raise ValueError(f"{self.info.filename}: more than {most} bytes")
        return content


@dataclass(frozen=True)
class OpenedBundle:
    """The archive of a bundle."""

    archive: zipfile.ZipFile

    @cached_property
    def names(self) -> frozenset[str]:
        """Names of all files."""
        return frozenset(names(self.archive))

    def has(self, path: str) -> bool:
        """Whether there is such a file, or a folder with files."""
        name = _plain(path)
        return name in self.names or any(one.startswith(f"{name}/") for one in self.names)

    def read(self, path: str) -> bytes:
        """Return the content of a page or logo; raises `ValueError` for one of more than `MAX_FILE` bytes."""
        return Member(self.archive, self.archive.getinfo(_plain(path))).read(MAX_FILE)

    def members(self) -> Iterator[tuple[str, Member]]:
        """Yield all files with their paths, those in archives of the bundle, too.

        Raises `UserError` if there are more than `MAX_FILES`, or they are suspiciously large together.
        """
        count = unpacked = 0
        for name in sorted(self.names):
            member = Member(self.archive, self.archive.getinfo(name))
            yield name, member
            unpacked += member.info.file_size
            if name.endswith(".zip"):
                with self.files(name) as files:
                    count += len(files)
                    if count > MAX_FILES:
                        raise UserError("too many files", expected=f"at most {MAX_FILES}, those in archives included")
                    unpacked += sum(one.info.file_size for one in files.values())
                    require_proportion(self.archive.start_dir, unpacked)
                    yield from ((f"{name}: {one}", member) for one, member in files.items())

    @contextmanager
    def files(self, path: str) -> Iterator[dict[str, Member]]:
        """Yield the files in an archive of the bundle, or in a folder; none if it is damaged."""
        name = _plain(path)
        if name not in self.names:
            folder = f"{name}/"
            inside = [one for one in self.names if one.startswith(folder)]
            yield {one.removeprefix(folder): Member(self.archive, self.archive.getinfo(one)) for one in inside}
            return
        with open_member(self.archive, name) as (stream, _), _seekable(stream, self.archive.getinfo(name)) as content:
            try:
                inner = open_zip(content, MAX_LIST)
            except zipfile.BadZipFile:
                yield {}
                return
            with inner:
                yield {one.filename: Member(inner, one) for one in file_infos(inner)}


@contextmanager
def _seekable(stream: IO[bytes], info: zipfile.ZipInfo) -> Iterator[IO[bytes]]:
    """Yield a packed member as a temporary file: `zipfile` would unpack it from its beginning for each of its files."""
    if info.compress_type == zipfile.ZIP_STORED:
        yield stream
        return
    with tempfile.TemporaryFile() as copy:
        shutil.copyfileobj(stream, copy)
        yield copy


def _plain(path: str) -> str:
    return path.removeprefix("./").rstrip("/")
