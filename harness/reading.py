"""Opens and reads untrusted files: only regular files, and only up to a maximum size."""

import errno
import io
import os
import stat
from pathlib import Path, PurePosixPath

from harness.errors import UserError

#: File type, as in `stat` -> its name for messages; regular files are missing.
_KINDS = {
    stat.S_IFLNK: "a symbolic link",
    stat.S_IFDIR: "a directory",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}

#: Flags of `os.open`: opening a pipe does not wait for a writer.
_FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC


def open_regular(path: Path, *, links: bool) -> io.BufferedReader:
    """Open a regular file to read bytes; `links` says whether the path itself may be a symbolic link.

    The file's type is checked before opening, because opening a device may have an effect, and after opening, because
    the file may have been replaced. Raise `UserError` if the file is missing, not regular, or cannot be opened.
    """
    try:
        require_regular(path, path.stat(follow_symlinks=links))
        stream = os.fdopen(os.open(path, _FLAGS | (0 if links else os.O_NOFOLLOW)), "rb")
    except OSError as error:
        if error.errno == errno.ELOOP and not links:  # a link has just replaced it
            raise _other_kind(path, stat.S_IFLNK) from error
        raise UserError("cannot be read", file=path, found=error.strerror or str(error)) from error
    except ValueError as error:  # such as a null byte in the path
        raise UserError("cannot be read", file=repr(str(path)), expected="the name of a file") from error
    try:
        require_regular(path, os.fstat(stream.fileno()))
    except BaseException:
        stream.close()
        raise
    return stream


def open_below(root: Path, name: str) -> io.BufferedReader:
    """Open the file `name` in an untrusted directory as `open_regular` does. No part of `name` may be a link."""
    for folder in reversed(PurePosixPath(name).parents):
        if folder.name:
            refuse_link(root / folder)
    return open_regular(root / name, links=False)


def read_regular(path: Path, most: int, *, links: bool, why: str = "") -> bytes:
    """Return the content of a regular file. Raise `UserError`, with the text `why`, for more than `most` bytes."""
    with open_regular(path, links=links) as stream:
        return _read_bounded(stream, path, most, why)


def read_text(path: Path, most: int) -> str:
    """Return the text of a UTF-8 file of at most `most` bytes. Messages of errors do not quote the file."""
    try:
        return read_regular(path, most, links=True).decode()
    except UnicodeDecodeError as error:
        found = f"other bytes from position {error.start}"
        raise UserError("not text", file=path, expected="text in UTF-8", found=found) from error


def read_below(root: Path, name: str, most: int) -> bytes:
    """Return the content of a file that `open_below` opens. Raise `UserError` for more than `most` bytes."""
    with open_below(root, name) as stream:
        return _read_bounded(stream, root / name, most)


def _read_bounded(stream: io.BufferedReader, path: Path, most: int, why: str = "") -> bytes:
    size = os.fstat(stream.fileno()).st_size
    try:
        content = stream.read(size + 1) if size <= most else b""
        if len(content) > size:
            content += stream.read(max(most + 1 - len(content), 0))
    except OSError as error:
        raise UserError("cannot be read", file=path, found=error.strerror or str(error)) from error
    if max(size, len(content)) > most:
        found = f"{size} bytes" if size > most else "a file that grows"
        raise UserError("too large", file=path, expected=f"at most {most} bytes{why}", found=found)
    return content


def is_missing(path: Path) -> bool:
    """Whether nothing is at a path; false if the path is out of reach: opening it then tells why."""
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return True
    except OSError:
        return False
    return False


def refuse_link(path: Path) -> None:
    """Raise `UserError` if the path itself is a symbolic link, or out of reach. Its parents may be links."""
    try:
        is_link = path.is_symlink()
    except OSError as error:  # a folder that may not be entered, or a name that is too long
        raise UserError("cannot be read", file=path, found=error.strerror) from error
    if is_link:
        raise _other_kind(path, stat.S_IFLNK)


def real_path(path: Path) -> Path:
    """Return the absolute path without links. Unlike `Path.resolve`, accept links that lead in a circle."""
    return Path(os.path.realpath(path))


def own_path(path: Path) -> Path:
    """Return the absolute path of a file, with links resolved in its parents, but not at its end."""
    return real_path(path) if path.name in ("", "..") else real_path(path.parent) / path.name


def require_regular(path: Path, state: os.stat_result) -> None:
    """Raise `UserError` unless `path` is a regular file; `state` is the result of `stat` for this path."""
    if not stat.S_ISREG(state.st_mode):
        raise _other_kind(path, stat.S_IFMT(state.st_mode))


def _other_kind(path: Path, kind: int) -> UserError:
    remedy = "name the file itself" if kind == stat.S_IFLNK else None
    found = _KINDS.get(kind, "something else")
    return UserError("cannot be read", file=path, expected="a regular file", found=found, remedy=remedy)
