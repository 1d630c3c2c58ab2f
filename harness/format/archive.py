"""Reads single members of untrusted zip archives into memory, within bounds."""

import io
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path
from typing import IO, Any

from harness.errors import UserError
from harness.format.files import START, located, refuse_torch, require_own_kind
from harness.reading import open_regular
from harness.text import printable

#: Maximum number of members (a `.keras` file has three); maximum size in bytes of their list, which takes ten times as
#: much memory.
MAX_MEMBERS, MAX_LIST = 1000, 1024**2

#: Members of more than `SUSPECT_BYTES`, alone or together, must not be compressed by more than a factor of `MAX_RATIO`.
#: Deflate compresses zeros by a factor of 1000; with overlapping members, any factor is possible.
SUSPECT_BYTES = 64 * 1024**2
MAX_RATIO = 100

#: Exceptions that `zipfile` and NumPy raise for damaged archives.
DAMAGE = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError)

_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


@contextmanager
def open_archive(path: Path, most: int = MAX_MEMBERS) -> Iterator[zipfile.ZipFile]:
    """Open a zip archive; raises `UserError` for more than `most` members, and for damage found within the context."""
    try:
        with open_regular(path, links=True) as stream, located(path), _opened(stream, most) as archive:
            if len(archive.infolist()) > most:
                raise UserError("too many members", expected=f"at most {most}", found=len(archive.infolist()))
            refuse_torch(names(archive))
            yield archive
    except DAMAGE as error:
        found = printable(str(error))[:200]
        remedy = "copy it again"
        raise UserError("damaged", file=path, expected="a whole zip archive", found=found, remedy=remedy) from error


def _opened(stream: BufferedReader, most: int) -> zipfile.ZipFile:
    start = stream.peek(START)[:START]
    require_own_kind("not a zip archive", start, file=None, expected="one of Keras, NumPy or torch.export (.pt2)")
    return open_zip(stream, MAX_LIST * max(1, most // MAX_MEMBERS))


class Pieces(BufferedReader):
    """A file that returns at most `most` bytes per read.

    An archive declares the size of its list of members, and `zipfile` reads the whole list at once. A file of this
    class returns only a part of a huge list, and then `zipfile` refuses the archive.
    """

    def __init__(self, content: Any, most: int) -> None:
        super().__init__(content)
        self._most = most

    def read(self, size: int | None = -1, /) -> bytes:
        """Return up to `size` bytes, but at most `most`; None or a negative size means `most`."""
        return super().read(self._most if size is None or size < 0 else min(size, self._most))


def open_zip(stream: IO[bytes], most: int) -> zipfile.ZipFile:
    """Open an archive whose list of members has at most `most` bytes.

    Raises one of the exceptions in `DAMAGE` if the list is longer, or if the archive is damaged; `UserError` if the
    archive would unpack to suspiciously many bytes.
    """
    try:
        archive = zipfile.ZipFile(Pieces(stream, most))
        require_proportion(stream.seek(0, io.SEEK_END), sum(info.file_size for info in archive.infolist()))
    except OSError as error:  # the archive declares that its list begins before the archive
        raise zipfile.BadZipFile(str(error)) from error
    return archive


def require_proportion(size: int, unpacked: int) -> None:
    """Raise `UserError` if an archive of `size` bytes would unpack to suspiciously many bytes (`unpacked`)."""
    if unpacked > SUSPECT_BYTES and unpacked > MAX_RATIO * size:
        found = f"{size} bytes that unpack to {unpacked}"
        raise UserError("members together", expected=f"at most {MAX_RATIO} times the archive's size", found=found)


def names(archive: zipfile.ZipFile) -> list[str]:
    """Return the names of the members that are files; raises `BadZipFile` if a member has no name."""
    return [info.filename for info in file_infos(archive)]


def file_infos(archive: zipfile.ZipFile) -> list[zipfile.ZipInfo]:
    """Return the members that are files; raises `BadZipFile` if a member has no name."""
    if not all(info.filename for info in archive.infolist()):
        raise zipfile.BadZipFile("a member without a name")
    return [info for info in archive.infolist() if not info.is_dir()]


@contextmanager
def open_member(archive: zipfile.ZipFile, name: str) -> Iterator[tuple[IO[bytes], int]]:
    """Open a member; yield (stream, size in bytes). Raises `UserError` if it is missing, repeated or suspicious."""
    found = [info for info in archive.infolist() if info.filename == name]
    if len(found) != 1:
        raise UserError(f"member {name}", expected="one of this name", found=len(found) or "none")
    (info,) = found
    with open_info(archive, info) as stream:
        yield stream, info.file_size


def open_info(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> IO[bytes]:
    """Open a member; raises `UserError` if `require_plain` refuses it, `BadZipFile` if its content is missing."""
    require_plain(info)
    try:
        return archive.open(info)
    except OSError as error:
        raise zipfile.BadZipFile(f"a member that begins outside of the archive: {error.strerror}") from error


def require_plain(info: zipfile.ZipInfo) -> None:
    """Raise `UserError` for a member that is encrypted, compressed by an unusual method, or compressed too much."""
    name = printable(info.filename)[:80]
    if info.flag_bits & 1 or info.compress_type not in _METHODS:
        raise UserError(f"member {name}", expected="a stored or deflated file", found="encryption or another method")
    if info.file_size > SUSPECT_BYTES and info.file_size > MAX_RATIO * info.compress_size:
        sizes = f"{info.compress_size} bytes that unpack to {info.file_size}"
        raise UserError(f"member {name}", expected=f"at most {MAX_RATIO} times its packed size", found=sizes)


def read_member(archive: zipfile.ZipFile, name: str, most: int) -> bytes:
    """Return the content of a member; raises `UserError` if it is larger than `most` bytes."""
    with open_member(archive, name) as (stream, size):
        if size > most:
            raise UserError(f"member {name}", expected=f"at most {most} bytes", found=size)
        return stream.read(size)
