"""The cache directory, for files that can be recomputed: decoded data, architectures, staged copies."""

import os
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from harness.errors import UserError, writing
from harness.locks import lock


def cache_directory(name: str) -> Path:
    """Return the cache's subdirectory `name`, created if necessary.

    `PGDL_CACHE` is the path of the cache, by default `pgdl-harness` in the user's cache directory. An empty variable
    counts as none: the current directory may be a stranger's. Raises `UserError` if the directory cannot be created.
    """
    base = os.environ.get("PGDL_CACHE")
    if not base:
        home = os.environ.get("XDG_CACHE_HOME") or home_directory("PGDL_CACHE") / ".cache"
        base = str(Path(home) / "pgdl-harness")
    directory = Path(base).absolute() / name
    with writing(directory, problem="cannot be created", remedy="name another cache by PGDL_CACHE"):
        directory.mkdir(parents=True, exist_ok=True)
    return directory


def home_directory(variable: str) -> Path:
    """Return the user's home directory.

    Raises `UserError` if there is none, as in some containers; the message names the `variable` that would replace it.
    """
    try:
        return Path.home()
    except RuntimeError as error:
        raise UserError("you have no home directory", remedy=f"set HOME or {variable}") from error


@contextmanager
def locked(file: Path) -> Iterator[None]:
    """Let one process at a time do something; `file` is created, and remains."""
    with file.open("wb") as stream:
        lock(stream.fileno())
        yield


def link_or_copy(source: Path, target: Path) -> None:
    """Make a file available under another name: as a link, or on another file system as a copy."""
    try:
        os.link(source, target)
    except OSError:  # another file system, or one without links
        shutil.copyfile(source, target)


def write_whole(entry: Path, content: bytes) -> None:
    """Write a file of the cache at once: another harness may be reading it."""
    temporary = entry.with_suffix(f".{os.getpid()}.{threading.get_ident()}")
    temporary.write_bytes(content)
    temporary.replace(entry)
