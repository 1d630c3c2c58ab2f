"""Staged copies under anonymous names: all that a sandbox ever mounts of models, data and submissions.

A mount's source path can be read inside the sandbox, so nothing is mounted from where it lies.
"""

import fcntl
import os
import secrets
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

import harness.worker
from harness.cache import cache_directory
from harness.errors import UserError
from harness.sandbox.proc import write_copies


class Staging:
    """A directory of staged copies that lives as long as one run; each thing is staged once.

    A lock marks it as in use. What a killed run left behind has none and is removed by the next one.
    """

    def __init__(self) -> None:
        root = cache_directory("staged")
        with locked(root):  # so that no other run sees this one's directory before its lock
            _remove_abandoned(root)
            self._root = root / secrets.token_hex(8)
            self._root.mkdir(mode=0o700)
            self._lock = os.open(self._root / "lock", os.O_CREAT | os.O_RDWR, 0o600)
            fcntl.flock(self._lock, fcntl.LOCK_EX)
        self._staged: dict[str, Path] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with locked(self._root.parent):  # or another run could look into it while it goes
            shutil.rmtree(self._root, ignore_errors=True)
        os.close(self._lock)

    def stage(self, key: str, write: Callable[[Path], None]) -> Path:
        """Return the directory for `key`; the first time, `write` fills it.

        Its times are set to zero and everybody may read it: the worker is another user.
        """
        if key not in self._staged:
            directory = self._root / secrets.token_hex(8)
            try:
                directory.mkdir()
                write(directory)
            except OSError as error:
                remedy = "free some space, or name another cache by PGDL_CACHE; what was finished is kept"
                raise UserError(f"cannot be staged: {error.strerror}", file=self._root, remedy=remedy) from error
            for path in (*directory.rglob("*"), directory):
                path.chmod(0o755 if path.is_dir() else 0o644)
                os.utime(path, (0, 0))
            self._staged[key] = directory
        return self._staged[key]

    def worker(self) -> Path:
        """Stage the package `harness.worker` alone, and what workers see instead of some files in /proc."""
        return self.stage("worker", _write_worker)


def _write_worker(directory: Path) -> None:
    source = Path(harness.worker.__file__).parent
    target = directory / "harness" / "worker"
    target.mkdir(parents=True)
    (directory / "harness" / "__init__.py").touch()
    for file in source.glob("*.py"):
        shutil.copyfile(file, target / file.name)
    write_copies(directory)


@contextmanager
def locked(directory: Path) -> Iterator[None]:
    """Hold the lock of a directory, waiting for it."""
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _remove_abandoned(root: Path) -> None:
    for directory in (path for path in root.iterdir() if path.is_dir()):
        lock = os.open(directory / "lock", os.O_CREAT | os.O_RDWR, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(directory, ignore_errors=True)
        except BlockingIOError:
            pass  # another run is using it
        finally:
            os.close(lock)
