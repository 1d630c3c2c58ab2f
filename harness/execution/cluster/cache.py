"""Keeps models and training data on a machine of a cluster from run to run, in the form that workers read."""

import os
import secrets
import shutil
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

import harness
from harness.cache import MORE_ROOM, cache_directory, link_or_copy, locked, sync_files
from harness.configuration import GIB
from harness.digest import digest_of, digest_of_file
from harness.errors import UserError, writing
from harness.execution.settings import loader_digest
from harness.worker.runtimes import DEFAULT

#: Maximum size of all entries in bytes. Entries also take at most half of the disk space that is free without entries.
KEPT_BYTES = 32 * GIB


class Cache:
    """Directories with models or training data, named by digest. Several processes may use the cache concurrently.

    An entry is complete, or does not exist. If space is short, the least recently used entry is removed.
    """

    def __init__(self, kept_bytes: int = KEPT_BYTES) -> None:
        self._root, self._kept_bytes = cache_directory("inputs"), kept_bytes
        #: The version of the code that writes the entries.
        self._made_by = f"{harness.__version__} {loader_digest(DEFAULT)}"

    @property
    def summary(self) -> str:
        """Directory and size of the cache, as text for messages."""
        sizes = [found[1] for path in self._root.iterdir() if (found := _use_of(path)) is not None]
        return f"{self._root}, {sum(sizes) / GIB:.1f} GiB"

    def entry(self, kind: str, digest: str) -> Path | None:
        """Return the directory of an entry, and store the time of this use; None if there is no such entry."""
        path = self._path(kind, digest)
        try:
            os.utime(path)
        except FileNotFoundError:
            return None
        return path

    def add(self, kind: str, digest: str, write: Callable[[Path], None]) -> Path:
        """Return the directory of an entry. If the entry is new, `write` fills the directory first."""
        path = self._path(kind, digest)
        with locked(path.with_suffix(".lock")):  # only one process writes
            if (found := self.entry(kind, digest)) is not None:
                return found
            for left in self._root.glob(f"{path.name}.*.partial"):  # by a process that was killed while it wrote
                shutil.rmtree(left, ignore_errors=True)
            partial = self._root / f"{path.name}.{secrets.token_hex(4)}.partial"
            try:
                with writing(partial, problem="cannot be kept", remedy=MORE_ROOM):
                    partial.mkdir()
                    write(partial)
                    sync_files(partial)  # otherwise a power cut could leave an entry with empty files
                    partial.replace(path)
            finally:
                shutil.rmtree(partial, ignore_errors=True)
        with locked(self._root / "all.lock"):
            self._make_room(path)
        return path

    def link(self, kind: str, digest: str, directory: Path) -> bool:
        """Link or copy the files of an entry into a directory. Return False if the entry does not exist."""
        path = self.entry(kind, digest)
        if path is None:
            return False
        try:
            for file in path.iterdir():
                link_or_copy(file, directory / file.name)
            path.stat()  # entries disappear in one step: if the path exists, all files were linked
        except FileNotFoundError:  # another process has just made room
            for file in directory.iterdir():
                file.unlink()
            return False
        return True

    def _path(self, kind: str, digest: str) -> Path:
        return self._root / digest_of(
            [("kind", kind.encode()), ("of", digest.encode()), ("by", self._made_by.encode())]
        )

    def _make_room(self, kept: Path) -> None:
        used = {path: found for path in self._root.iterdir() if (found := _use_of(path)) is not None}
        sizes = {path: size for path, (_, size) in sorted(used.items(), key=lambda item: item[1])}
        total = sum(sizes.values())
        bound = min(self._kept_bytes, (shutil.disk_usage(self._root).free + total) // 2)
        for path, size in sizes.items():
            if total <= bound:
                break
            if path != kept:
                going = path.with_suffix(f".{secrets.token_hex(4)}.partial")
                with suppress(FileNotFoundError):
                    path.rename(going)  # in one step, because another process may be linking its files
                shutil.rmtree(going, ignore_errors=True)
                total -= size


def _use_of(path: Path) -> tuple[float, int] | None:
    """Return the time of an entry's last use, and its size in bytes; None if `path` is no entry any more."""
    if path.suffix:  # a lock, or an entry that is being written or removed
        return None
    try:
        return path.stat().st_mtime, sum(file.stat().st_size for file in path.iterdir())
    except FileNotFoundError:
        return None


def digests_of(directory: Path) -> dict[str, str]:
    """Return name -> SHA-256 (hex) of the files of an entry."""
    return {file.name: digest_of_file(file) for file in sorted(directory.iterdir())}


def require_digests(directory: Path, expected: Mapping[str, str]) -> None:
    """Raise `UserError` unless the directory holds exactly the files with these digests."""
    if digests_of(directory) != dict(expected):
        remedy = "run the same command again"
        raise UserError("the files from the driver arrived damaged", file=directory, remedy=remedy)
