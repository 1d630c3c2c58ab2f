"""The cache directory, for files that can be recomputed: decoded data, architectures, staged copies."""

import os
import shutil
import tempfile
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from filelock import lock_descriptor
from platformdirs import user_cache_path

from harness.errors import UserError, writing

#: Environment variable that names the cache.
VARIABLE = "PGDL_CACHE"


def cache_directory(name: str) -> Path:
    """Return the cache's subdirectory `name`, created if necessary.

    Raises `UserError` if it cannot be created.
    """
    directory = cache_root() / name
    with writing(directory, problem="cannot be created", remedy=f"name another cache by {VARIABLE}"):
        directory.mkdir(parents=True, exist_ok=True)
    return directory


def cache_file(directory: str, name: str) -> Path | None:
    """Return the path of a file in a subdirectory; None if no cache can be created, which boards do not need."""
    try:
        return cache_directory(directory) / name
    except UserError:
        return None


@contextmanager
def any_cache() -> Iterator[None]:
    """Use a temporary cache within the context if the user's cannot be written, for work whose result is printed."""
    with ExitStack() as stack:
        if cache_file("", "") is None or not os.access(cache_root(), os.W_OK):
            temporary = stack.enter_context(tempfile.TemporaryDirectory(prefix="pgdl-cache-"))
            stack.callback(_name_cache, os.environ.get(VARIABLE))
            _name_cache(temporary)
        yield


def _name_cache(directory: str | None) -> None:
    """Set the variable of the cache for this process and its children; None removes it."""
    if directory is None:
        os.environ.pop(VARIABLE, None)
    else:
        os.environ[VARIABLE] = directory


def cache_root() -> Path:
    """Return the path of the cache: `PGDL_CACHE`, by default `pgdl-harness` in the user's cache directory.

    An empty variable counts as unset: the current directory may be a stranger's.
    """
    if named := os.environ.get(VARIABLE):
        return Path(named).absolute()
    with home_needed(VARIABLE):
        return user_cache_path("pgdl-harness", appauthor=False)


def runs_programs() -> bool:
    """Whether the file system of the cache allows the execution of programs, which fast starts need."""
    return not os.statvfs(cache_root()).f_flag & os.ST_NOEXEC


@contextmanager
def home_needed(variable: str) -> Iterator[None]:
    """Turn the lack of a home directory, as in some containers, into a `UserError` that names a `variable` instead."""
    try:
        yield
    except RuntimeError as error:
        raise UserError("you have no home directory", remedy=f"set HOME or {variable}") from error


@contextmanager
def locked(file: Path) -> Iterator[None]:
    """Hold a lock that one process at a time can have; `file` is created, and remains."""
    with file.open("wb") as stream:
        lock_descriptor(stream.fileno())
        yield


def link_or_copy(source: Path, target: Path) -> None:
    """Make a file available under another name: as a link, or on another file system as a copy."""
    try:
        os.link(source, target)
    except OSError:  # another file system, or without links
        shutil.copyfile(source, target)


def write_whole(entry: Path, content: bytes) -> None:
    """Write a file atomically: another harness may be reading it. A full disk leaves only the earlier file."""
    temporary = entry.with_suffix(f".{os.getpid()}.{threading.get_ident()}")
    try:
        temporary.write_bytes(content)
        temporary.replace(entry)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise
