"""Copies models, data and submissions into directories with random names, for sandboxes to mount.

Original directories are never mounted, because a submission can read the source path of a mount.
"""

import os
import secrets
import shutil
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from filelock import lock_descriptor

import harness.worker
from harness.cache import MORE_ROOM, cache_directory, locked
from harness.configuration import GIB
from harness.errors import UserError, remedy_of
from harness.sandbox.proc import write_copies

#: Program of the placeholder process (`harness.sandbox.kinds.fast`), which echoes its input, and the mode of its file.
#: The file is unreadable, so other processes of the same user cannot access the running process.
ECHO, UNREADABLE = "cat", 0o111

#: Name of the file that a run locks while it uses its directory.
LOCK = "lock"

#: Maximum size in bytes of copies that no call uses, kept for later calls.
KEPT_BYTES = 4 * GIB


@dataclass
class Copy:
    """A directory with copied files, its size, and the number of calls that use it."""

    path: Path
    own_bytes: int  #: size of the files that have a single hard link
    users: int = 0


class Staging:
    """The directory with a run's copies of models, data and submissions. If space is short, unused copies are removed.

    A lock marks the directory as in use. The lock of a killed run is free, so the next run removes the directory.
    """

    def __init__(self, kept_bytes: int = KEPT_BYTES) -> None:
        root = cache_directory("staged")
        with _exclusive(root):  # otherwise another run could remove this directory before it is locked
            _remove_abandoned(root)
            self._root = root / secrets.token_hex(8)
            self._root.mkdir(mode=0o700)
            self._lock = _open_lock(self._root)
            lock_descriptor(self._lock)
        self._kept_bytes = kept_bytes
        self._copies: dict[str, Copy] = {}  #: in the order of their last use
        self._changing = threading.Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        with _exclusive(self._root.parent):  # otherwise another run could open the directory during its removal
            os.close(self._lock)
            shutil.rmtree(self._root, ignore_errors=True)

    def stage(self, key: str, write: Callable[[Path], None]) -> Path:
        """Return the directory for `key`, which stays during the run; `write` fills a new directory.

        Every user may read the directory, because the worker may be another user. All its time stamps are 0.
        """
        with self._changing:
            return self._use(key, write).path

    @contextmanager
    def hold(self, key: str, write: Callable[[Path], None]) -> Iterator[Path]:
        """Yield the directory that `stage` would return. After the context, it may be removed to free space."""
        with self._changing:
            copy = self._use(key, write)
        try:
            yield copy.path
        finally:
            with self._changing:
                copy.users -= 1
                self._make_room()

    def _use(self, key: str, write: Callable[[Path], None]) -> Copy:
        copy = self._copies.pop(key, None) or self._write(write)
        copy.users += 1
        self._copies[key] = copy
        return copy

    def _write(self, write: Callable[[Path], None]) -> Copy:
        directory = self._root / secrets.token_hex(8)
        try:
            directory.mkdir()
            write(directory)
        except OSError as error:
            usual = f"{MORE_ROOM}; what was finished is kept"
            problem, remedy = f"cannot be staged: {error.strerror}", remedy_of(error, usual)
            raise UserError(problem, file=self._root, remedy=remedy) from error
        own_bytes = 0
        for path in (*directory.rglob("*"), directory):
            state = path.stat()
            own_bytes += state.st_size if state.st_nlink == 1 else 0
            path.chmod(0o755 if path.is_dir() else 0o644)
            os.utime(path, (0, 0))
        return Copy(directory, own_bytes)

    def _make_room(self) -> None:
        """Remove the least recently used copies until all unused copies together take at most `kept_bytes`."""
        unused = {key: copy for key, copy in self._copies.items() if not copy.users}
        size = sum(copy.own_bytes for copy in unused.values())
        for key, copy in unused.items():
            if size <= self._kept_bytes:
                break
            size -= copy.own_bytes
            shutil.rmtree(self._copies.pop(key).path, ignore_errors=True)

    def worker(self) -> Path:
        """Return a directory with the worker's code, copies of files in /proc, and `ECHO` for placeholder processes."""
        directory = self.stage("worker", _write_worker)
        if sys.platform == "linux":
            (directory / ECHO).chmod(UNREADABLE)
        return directory


def _write_worker(directory: Path) -> None:
    source = Path(harness.worker.__file__).parent
    target = directory / "harness" / "worker"
    for file in source.rglob("*.py"):
        copy = target / file.relative_to(source)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, copy)
    (directory / "harness" / "__init__.py").touch()
    if sys.platform == "linux":
        write_copies(directory)
        shutil.copyfile("/bin/cat", directory / ECHO)


def _exclusive(root: Path) -> AbstractContextManager[None]:
    return locked(root.with_suffix(".lock"))


def _open_lock(directory: Path) -> int:
    return os.open(directory / LOCK, os.O_CREAT | os.O_RDWR, 0o600)


def _remove_abandoned(root: Path) -> None:
    for directory in (path for path in root.iterdir() if path.is_dir()):
        try:
            descriptor = _open_lock(directory)
        except OSError:  # another user's, perhaps of root
            continue
        try:
            is_used = not lock_descriptor(descriptor, blocking=False)
        finally:
            os.close(descriptor)
        if not is_used:
            shutil.rmtree(directory, ignore_errors=True)
