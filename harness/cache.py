"""The cache directory, for files that can be recomputed: decoded data, architectures, staged copies."""

import os
import shutil
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import lock_descriptor
from platformdirs import user_cache_path

from harness.errors import UserError, writing

#: Environment variable that names the cache.
VARIABLE = "PGDL_CACHE"


def cache_directory(name: str) -> Path:
    """Return the cache's subdirectory `name`, and create it if necessary. Raise `UserError` if that fails."""
    directory = cache_root() / name
    with writing(directory, problem="cannot be created", remedy=f"name another cache by {VARIABLE}"):
        directory.mkdir(parents=True, exist_ok=True)
    return directory


def cache_file(directory: str, name: str) -> Path | None:
    """Return the path of the file `name` in a subdirectory of the cache; None if the subdirectory cannot be created."""
    try:
        return cache_directory(directory) / name
    except UserError:
        return None


@contextmanager
def any_cache() -> Iterator[None]:
    """Use a temporary cache within the context if the user's cache is not writable, as commands that only print may."""
    if cache_file("", "") is not None and os.access(cache_root(), os.W_OK):
        yield
        return
    before = os.environ.get(VARIABLE)
    with tempfile.TemporaryDirectory(prefix="pgdl-cache-") as temporary:
        os.environ[VARIABLE] = temporary
        try:
            yield
        finally:
            if before is None:
                del os.environ[VARIABLE]
            else:
                os.environ[VARIABLE] = before


def cache_root() -> Path:
    """Return the path of the cache: `PGDL_CACHE`, by default `pgdl-harness` in the user's cache directory.

    An empty variable counts as unset, since it would stand for the current directory, which may be hostile.
    """
    if named := os.environ.get(VARIABLE):
        return Path(named).absolute()
    with home_needed(VARIABLE):
        return user_cache_path("pgdl-harness", appauthor=False)


def runs_programs() -> bool:
    """Return whether the file system of the cache allows the execution of programs, which fast starts need."""
    return not os.statvfs(cache_root()).f_flag & os.ST_NOEXEC


@contextmanager
def home_needed(variable: str) -> Iterator[None]:
    """Raise `UserError` in place of an error on a missing home directory; the message names an environment variable."""
    try:
        yield
    except RuntimeError as error:
        raise UserError("you have no home directory", remedy=f"set HOME or {variable}") from error


@contextmanager
def locked(file: Path) -> Iterator[None]:
    """Hold an exclusive lock within the context. The file of the lock is created, and remains."""
    with file.open("wb") as stream:
        lock_descriptor(stream.fileno())
        yield


def link_or_copy(source: Path, target: Path) -> None:
    """Make the file `source` available as `target` too: by a hard link, or by a copy on another file system."""
    try:
        os.link(source, target)
    except OSError:  # another file system, or without links
        shutil.copyfile(source, target)


def write_whole(entry: Path, content: bytes) -> None:
    """Write a file atomically, since another process may be reading it. On a full disk, the earlier file remains."""
    temporary = entry.with_suffix(f".{os.getpid()}.{threading.get_ident()}")
    try:
        temporary.write_bytes(content)
        temporary.replace(entry)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise
