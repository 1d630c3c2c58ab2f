"""A cache of digests (SHA-256) of a task's files, and of results of checks. A digest holds until its file changes.

A file counts as unchanged while its size, times, inode and device are the same. Submissions cannot reach the cache.
"""

import hashlib
import json
import os
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Self, TypeVar

import harness
from harness.cache import cache_file, write_whole
from harness.cores import available_cores
from harness.digest import digest_of_code, digest_of_file

#: Seconds during which a file may change without a change of its times. The digests of younger files are not cached.
SETTLED_S = 2.0

#: The packages that read and check tasks. Results of checks by another version of their code are ignored.
CHECKED_BY = tuple(Path(harness.__file__).parent / room for room in ("format", "task"))

T = TypeVar("T")

#: Size, modification time, status change time, inode and device of a file.
Stamp = list[int]


class Digests:
    """Digests of the files below a directory, and findings: results of checks. The end of the context saves both.

    The key of a finding is a digest of the checked contents and of the checking code. So a finding is never used for
    other contents or by another version of the harness.
    """

    def __init__(self, directory: Path) -> None:
        self._root = directory.resolve()
        self._file = cache_file("digests", f"{hashlib.sha256(os.fsencode(self._root)).hexdigest()}.json")
        self._known, self._findings = _read(self._file) if self._file else ({}, {})
        self._changed = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        if self._file and self._changed:
            with suppress(OSError):  # a full disk only costs time
                write_whole(self._file, json.dumps({"digests": self._known, "findings": self._findings}).encode())

    def of(self, file: Path) -> str:
        """Return the SHA-256 (hex) of a file; raises `OSError`, or `UserError` if the path is no regular file."""
        return self._recall(file) or self.reading(file, lambda path: (None, digest_of_file(path)))[1]

    def reading(self, file: Path, read: Callable[[Path], tuple[T, str]]) -> tuple[T, str]:
        """Call `read` on a file, return its result (content, SHA-256 in hex), and cache the SHA-256."""
        stamp = _stamp(file)
        content, digest = read(file)
        self._remember(file, stamp, digest)
        return content, digest

    def of_model(self, files: Sequence[Path]) -> str:
        """Return the digest of a model, over the names and contents of those of its `files` that exist."""
        return model_digest((file.name, self.of(file)) for file in files if file.exists())

    def of_data(self, shards: Sequence[Path]) -> str:
        """Return the digest over the contents of shards, in this order. Several shards are read at once."""
        with ThreadPoolExecutor(available_cores()) as threads:
            return data_digest(list(threads.map(self.of, shards)))

    def are_known(self, files: Sequence[Path]) -> bool:
        """Whether the cache has the digest of each file in `files` that exists."""
        return all(self._recall(file) is not None for file in files if file.exists())

    def finding(self, about: str, *subject: object) -> str | None:
        """Return the stored result of the check `about` on `subject` with the present code; None if there is none."""
        known = self._findings.get(about)
        return known[1] if known is not None and known[0] == _key(subject) else None

    def record(self, found: str, about: str, *subject: object) -> None:
        """Store the result of a check. `about` is the name of the check.

        `subject` has everything else on which the result depends: digests of contents, and the values with
        which the check compares the contents. The `repr` of `subject` must be the same in every process.
        """
        self._findings[about] = _key(subject), found
        self._changed = True

    def _recall(self, file: Path) -> str | None:
        known = self._known.get(os.path.relpath(file, self._root))
        return known[1] if known is not None and known[0] == _stamp(file) else None

    def _remember(self, file: Path, stamp: Stamp, digest: str) -> None:
        """Store a digest, unless the file changed so recently that another change might not alter its times."""
        if _stamp(file) == stamp and max(stamp[1:3]) < time.time_ns() - SETTLED_S * 1e9:
            self._known[os.path.relpath(file, self._root)] = stamp, digest
            self._changed = True


def with_digest(content: bytes) -> tuple[bytes, str]:
    """Return (content, SHA-256 in hex), the pair that `Digests.reading` expects from its argument `read`."""
    return content, hashlib.sha256(content).hexdigest()


def model_digest(files: Iterable[tuple[str, str]]) -> str:
    """Return the digest of a model from (name, digest) of each of its files."""
    return hashlib.sha256("".join(f"{name} {digest}\n" for name, digest in files).encode()).hexdigest()


def data_digest(shards: Sequence[str]) -> str:
    """Return the digest of training or test data from the digests (hex) of their shards."""
    return hashlib.sha256(b"".join(map(bytes.fromhex, shards))).hexdigest()


def _key(subject: Sequence[object]) -> str:
    return hashlib.sha256(repr((digest_of_code(*CHECKED_BY), *subject)).encode()).hexdigest()


def _stamp(file: Path) -> Stamp:
    state = file.stat()
    return [state.st_size, state.st_mtime_ns, state.st_ctime_ns, state.st_ino, state.st_dev]


def _read(file: Path) -> tuple[dict[str, tuple[Stamp, str]], dict[str, tuple[str, str]]]:
    """Return the digests and findings in a file of the cache; both are empty if the file is missing or damaged."""
    try:
        content = json.loads(file.read_bytes())
        return (
            {str(name): (list(stamp), str(digest)) for name, (stamp, digest) in content["digests"].items()},
            {str(about): (str(key), str(found)) for about, (key, found) in content["findings"].items()},
        )
    except (OSError, ValueError, TypeError, AttributeError, LookupError):
        return {}, {}
