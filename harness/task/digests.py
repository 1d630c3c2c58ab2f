"""SHA-256 of a task's files, remembered until size, times or inode of a file change, as build tools do."""

import hashlib
import json
import os
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from harness.cache import cache_directory

#: Seconds for which a file may still be written to without a change of its times.
SETTLED_S = 2.0

#: Size, times of change of content and of state, inode and device: what changes with a file.
Stamp = list[int]


class Digests:
    """Digests of the files under one directory; a context that remembers them when it is left."""

    def __init__(self, directory: Path) -> None:
        self._root = directory.resolve()
        name = hashlib.sha256(os.fsencode(self._root)).hexdigest()
        self._file = cache_directory("digests") / f"{name}.json"
        self._known = _read(self._file)
        self._new: dict[str, tuple[Stamp, str]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._new:
            temporary = self._file.with_suffix(f".{os.getpid()}")
            with suppress(OSError):  # a full disk costs time, not digests
                temporary.write_text(json.dumps(self._known | self._new))
                temporary.replace(self._file)

    def of(self, file: Path) -> str:
        """Return the SHA-256 (hex) of a file's content; raises `OSError`."""
        name, stamp = os.path.relpath(file, self._root), _stamp(file)
        known = self._known.get(name)
        if known is not None and known[0] == stamp:
            return known[1]
        with file.open("rb") as stream:
            digest = hashlib.file_digest(stream, "sha256").hexdigest()
        if _stamp(file) == stamp and max(stamp[1:3]) < time.time_ns() - SETTLED_S * 1e9:
            self._new[name] = stamp, digest
        return digest

    def of_model(self, files: Sequence[Path]) -> str:
        """Return the digest over the names and contents of those of the files that are there."""
        there = [file for file in files if file.exists()]
        return hashlib.sha256(b"".join(line(file.name, self.of(file)) for file in there)).hexdigest()

    def of_data(self, shards: Sequence[Path]) -> str:
        """Return the digest over the contents of shards in their order."""
        return hashlib.sha256(b"".join(bytes.fromhex(self.of(shard)) for shard in shards)).hexdigest()


def line(name: str, digest: str) -> bytes:
    """Return what the digest of a model takes of each of its files."""
    return f"{name} {digest}\n".encode()


def _stamp(file: Path) -> Stamp:
    state = file.stat()
    return [state.st_size, state.st_mtime_ns, state.st_ctime_ns, state.st_ino, state.st_dev]


def _read(file: Path) -> dict[str, tuple[Stamp, str]]:
    """The content of a cache file; a missing or damaged one is as good as none."""
    try:
        return {
            str(name): (list(stamp), str(digest)) for name, (stamp, digest) in json.loads(file.read_bytes()).items()
        }
    except (OSError, ValueError, TypeError, AttributeError):
        return {}
