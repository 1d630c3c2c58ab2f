"""The files of a bundle that is being checked, those in archives among them, too."""

import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property

from harness.format.archive import file_infos, names, open_info, open_member, open_zip

#: Most bytes of the list of members of an archive in a bundle, and of a page or logo.
MAX_LIST, MAX_FILE = 16 * 1024**2, 64 * 1024**2

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
        """Yield all files with their paths, those in archives of the bundle, too."""
        for name in sorted(self.names):
            yield name, Member(self.archive, self.archive.getinfo(name))
            if name.endswith(".zip"):
                with self.files(name) as files:
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
        with open_member(self.archive, name) as (stream, _):
            try:
                inner = open_zip(stream, MAX_LIST)
            except zipfile.BadZipFile:
                yield {}
                return
            with inner:
                yield {one.filename: Member(inner, one) for one in file_infos(inner)}


def _plain(path: str) -> str:
    return path.removeprefix("./").rstrip("/")
