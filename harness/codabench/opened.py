"""A bundle that is being checked: its description, its files, and the archives among them."""

import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from harness.format.archive import file_infos, names, open_info, open_member, open_zip

#: Most bytes of the list of members of an archive in a bundle.
MAX_LIST = 16 * 1024**2

#: What files with the same content have in common: checksum and size.
Mark = tuple[int, int]


def is_list_of_tables(value: object) -> bool:
    """Whether a value of the description is a list whose elements have keys."""
    return isinstance(value, list) and bool(value) and all(isinstance(one, dict) for one in value)


@dataclass(frozen=True)
class OpenedBundle:
    """The archive of a bundle, and the content of its description."""

    archive: zipfile.ZipFile
    content: dict[str, Any]

    @cached_property
    def names(self) -> frozenset[str]:
        """Names of all files."""
        return frozenset(names(self.archive))

    @property
    def tasks(self) -> set[object]:
        """Indexes of the tasks."""
        return {task.get("index") for task in self.content["tasks"]}

    @property
    def phases(self) -> list[tuple[str, dict[str, Any]]]:
        """The phases in their order, with their names or numbers."""
        found = sorted(self.content["phases"], key=lambda phase: phase.get("index", 0))
        return [(str(phase.get("name") or number), phase) for number, phase in enumerate(found)]

    def has(self, path: object) -> bool:
        """Whether there is such a file, or a folder with files."""
        name = str(path).removeprefix("./").rstrip("/")
        return name in self.names or any(one.startswith(f"{name}/") for one in self.names)

    def parts(self, key: str) -> Iterator[tuple[dict[str, Any], str]]:
        """Yield each task with the path of its part `key`, of those that have it here."""
        for task in self.content["tasks"]:
            if key in task and self.has(task[key]):
                yield task, str(task[key])

    @contextmanager
    def files(self, path: str) -> Iterator[dict[str, "Member"]]:
        """Yield the files in an archive of the bundle, or in a folder; none if it is damaged."""
        name = path.removeprefix("./").rstrip("/")
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
