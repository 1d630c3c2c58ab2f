"""The cache directory, for files that can be computed again: decoded data, shapes, digests, copies for sandboxes."""

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

#: Environment variable with the path of the cache.
VARIABLE = "PGDL_CACHE"

#: Remedy for a file that cannot be written to the cache.
MORE_ROOM = f"free some space, or name another cache by {VARIABLE}"


def cache_directory(name: str) -> Path:
    """Return the cache's subdirectory `name`, created if necessary. Raise `UserError` if it cannot be created."""
    directory = cache_root() / name
    with writing(directory, problem="cannot be created", remedy=f"name another cache by {VARIABLE}"):
        directory.mkdir(parents=True, exist_ok=True)
    return directory


def cache_file(directory: str, name: str) -> Path | None:
    """Return the path of a file in a subdirectory of the cache; None if the subdirectory cannot be created."""
    try:
        return cache_directory(directory) / name
    except UserError:
        return None


@contextmanager
def any_cache() -> Iterator[None]:
    """If the user's cache cannot be written, use a temporary cache within the context."""
    with ExitStack() as stack:
        if cache_file("", "") is None or not os.access(cache_root(), os.W_OK):
            temporary = stack.enter_context(tempfile.TemporaryDirectory(prefix="pgdl-cache-"))
            stack.callback(_name_cache, os.environ.get(VARIABLE))
            _name_cache(temporary)
        yield


def _name_cache(directory: str | None) -> None:
    if directory is None:
        os.environ.pop(VARIABLE, None)
    else:
        os.environ[VARIABLE] = directory


def cache_root() -> Path:
    """Return the path of the cache: the environment variable `VARIABLE`, or by default a path in the user's cache."""
    if named := os.environ.get(VARIABLE):  # an empty path would mean the current directory
        return Path(named).absolute()
    with home_needed(VARIABLE):
        return user_cache_path("pgdl-harness", appauthor=False)


def runs_programs() -> bool:
    """Return whether programs can be run from the cache's file system. The sandbox `fast` runs a program there."""
    return not os.statvfs(cache_root()).f_flag & os.ST_NOEXEC


@contextmanager
def home_needed(variable: str) -> Iterator[None]:
    """Replace an error about a missing home directory by a `UserError` with the advice to set `variable`."""
    try:
        yield
    except RuntimeError as error:
        raise UserError("you have no home directory", remedy=f"set HOME or {variable}") from error


@contextmanager
def locked(file: Path) -> Iterator[None]:
    """Lock a file of the cache within the context. The file is created if necessary, and is not removed.

    Raise `UserError` if the file cannot be opened, for instance because the cache belongs to another user.
    """
    with writing(file, remedy=f"name another cache by {VARIABLE}"):
        stream = file.open("wb")
    with stream:
        lock_descriptor(stream.fileno())
        yield


def link_or_copy(source: Path, target: Path) -> None:
    """Create `target` as a hard link to `source`, or as a copy if no link is possible."""
    try:
        os.link(source, target)
    except OSError:  # on another file system, or on a file system without links
        shutil.copyfile(source, target)


def sync_files(directory: Path) -> None:
    """Write the files in a directory to the disk, where a power cut leaves them as they are."""
    for file in filter(Path.is_file, directory.iterdir()):
        with file.open("rb") as stream:
            os.fsync(stream.fileno())


def write_whole(entry: Path, content: bytes) -> None:
    """Write a file atomically: readers see the old or the new content, and an error leaves the old content."""
    temporary = entry.with_suffix(f".{os.getpid()}.{threading.get_ident()}")
    try:
        temporary.write_bytes(content)
        temporary.replace(entry)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise
