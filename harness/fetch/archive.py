"""Downloads an archive of tasks, verifies its digest, and unpacks it."""

import bz2
import gzip
import lzma
import os
import re
import shutil
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import IO, Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

from harness.credentials import Address
from harness.digest import digest_of_file
from harness.errors import UserError, writing
from harness.fetch.listing import (
    MAX_ARCHIVE,
    MAX_BYTES,
    MAX_FILES,
    MAX_LIST,
    BadArchiveError,
    checked_path,
    printable_name,
    require_regular,
)
from harness.fetch.remote import fetch_file
from harness.fetch.session import ADDRESS
from harness.format.archive import DAMAGE, file_infos, open_info, open_zip, require_proportion
from harness.format.layout import INPUTS
from harness.inspector.files import is_leftover
from harness.reading import open_regular, read_text
from harness.task.workplace import workplace

#: Number of bytes per read.
CHUNK = 1024**2

SCHEMES = ("https", "http", "file")

#: Name of the file in the unpacked directory that holds the archive's digest.
MARK = ".archive-sha256"

#: Maximum size of the file `MARK` in bytes.
MAX_MARK = 1024

#: First bytes of a compressed tar -> function that opens it.
_PACKED: dict[bytes, Any] = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open, b"\xfd7zXZ\0": lzma.open, b"]\0\0": lzma.open}

#: Maximum size in bytes of a tar without the content of its files: a fixed part, and a part for each member.
MAX_BESIDE, MAX_BESIDE_MEMBER = 16 * 1024**2, 4096


def fetch_tasks(url: Address, sha256: str, directory: Path) -> bool:
    """Download an archive (a compressed or plain tar, or a zip) and unpack it as `directory`.

    Return True after a download, False if `directory` already has the files of this archive. Raises `UserError` if the
    download fails, the archive is too large, its digest is not `sha256`, a member is a link or a device, a path leads
    outside of `directory`, or `directory` has other files. After an error, no file is left behind.
    """
    require_digest(sha256)
    if directory.exists() and not (directory.is_dir() and not any(directory.iterdir())):
        return _require_same(directory, sha256)
    parent, name = directory.absolute().parent, f".{directory.absolute().name}.fetching"
    with writing(parent), workplace(parent, name, "pgdl task fetch") as place:
        archive, unpacked = place / "archive", place / "tasks"
        found = download(url, archive)
        if found != sha256:
            remedy = "nothing was unpacked; compare both with the digest that the tasks' owner announced"
            what = "another archive than the expected one"
            raise UserError(what, file=url, expected=sha256, found=found, remedy=remedy)
        unpacked.mkdir()
        try:
            _unpack(archive, unpacked)
        except BadArchiveError as error:
            raise UserError(f"cannot be unpacked: {error}", file=url) from error
        _install(_tasks_in(unpacked), directory, f"{sha256}\n".encode())
    return True


def _install(tasks: Path, directory: Path, mark: bytes) -> None:
    """Move the directory of the tasks to its place, with `mark` in the file `MARK`."""
    if not directory.exists():
        (tasks / MARK).write_bytes(mark)
        tasks.rename(directory)
        return
    try:  # the empty directory may be a link, a mount point, or the current directory, so it stays
        for one in tasks.iterdir():
            shutil.move(one, directory)
        (directory / MARK).write_bytes(mark)  # last, since it says that all files are there
    except BaseException:
        shutil.rmtree(directory.resolve(), ignore_errors=True)
        raise


def _tasks_in(unpacked: Path) -> Path:
    """Return the directory of the tasks: the only folder in `unpacked` if it has the tasks, otherwise `unpacked`."""
    found = [path for path in unpacked.iterdir() if not is_leftover(path.name)]
    return found[0] if len(found) == 1 and (found[0] / INPUTS).is_dir() else unpacked


def require_digest(sha256: str) -> None:
    """Raise `UserError` unless the text is a SHA-256 in hexadecimal."""
    if not re.fullmatch(r"[0-9a-f]{64}", sha256):
        raise UserError("--sha256", expected="64 hexadecimal digits in lower case", found=repr(sha256))


def _require_same(directory: Path, sha256: str) -> bool:
    mark = directory / MARK
    is_marked = os.path.lexists(mark)
    if is_marked and read_text(mark, MAX_MARK).strip() == sha256:
        return False
    found = "tasks of another archive" if is_marked else "other files"
    raise UserError("exists already", file=directory, found=found, remedy="remove it, or name another with --tasks")


def download(url: Address, target: Path) -> str:
    """Download the content of an address to a file. Return its SHA-256 (hex); raises `UserError` if that fails."""
    scheme = url.reveal().partition(":")[0].lower()
    if scheme not in SCHEMES:
        expected = ", ".join(SCHEMES)
        raise UserError("not an address to download from", file=url, expected=expected, found=scheme)
    if scheme == "file":
        file = Path(url2pathname(urlsplit(url.reveal()).path))
        with open_regular(file, links=True) as source, writing(target), target.open("wb") as copy:
            if os.fstat(source.fileno()).st_size > MAX_ARCHIVE:
                raise UserError("too large", file=url, expected=f"at most {MAX_ARCHIVE} bytes")
            shutil.copyfileobj(source, copy, CHUNK)
    else:
        fetch_file(url, target, most=MAX_ARCHIVE, moved=ADDRESS)
    return digest_of_file(target)


def _unpack(archive: Path, target: Path) -> None:
    written, size = 0, archive.stat().st_size
    try:
        for number, (name, stream) in enumerate(_members(archive), start=1):
            if number > MAX_FILES:
                raise BadArchiveError(f"expected at most {MAX_FILES} files, found more")
            path = target / checked_path(name)
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("xb") as file:
                while chunk := stream.read(CHUNK):
                    written += len(chunk)
                    if written > MAX_BYTES:
                        raise BadArchiveError(f"expected at most {MAX_BYTES / 1024**3:g} GiB of files, found more")
                    require_proportion(size, written)
                    file.write(chunk)
    except (tarfile.TarError, *DAMAGE) as error:
        raise BadArchiveError(f"expected a readable tar or zip: {error}") from error
    except UserError as error:
        raise BadArchiveError(str(error)) from error
    except (FileExistsError, NotADirectoryError, IsADirectoryError) as error:
        raise BadArchiveError(f"two files of one name: {Path(error.filename).relative_to(target)}") from error


def _members(archive: Path) -> Iterator[tuple[str, IO[bytes]]]:
    """Yield (name, content) of each file in a zip or tar; raises `BadArchiveError` for links and devices."""
    if zipfile.is_zipfile(archive):
        with open_regular(archive, links=True) as packed, open_zip(packed, MAX_LIST) as members:
            for entry in members.infolist():
                require_regular(entry)
            for entry in file_infos(members):
                with open_info(members, entry) as content:
                    yield entry.filename, content
        return
    with _unpacked(archive) as plain, tarfile.open(fileobj=plain, mode="r|") as stream:  # type: ignore[call-overload]
        for number, member in enumerate(stream, start=1):
            if number > MAX_FILES:
                raise BadArchiveError(f"expected at most {MAX_FILES} files and folders, found more")
            if not (member.isreg() or member.isdir()):
                raise BadArchiveError(f"{printable_name(member.name)}: expected a regular file")
            plain.allowed += MAX_BESIDE_MEMBER + (member.size if member.isreg() else 0)
            stream.members = []  # otherwise tarfile keeps every member
            if member.isreg() and (file := stream.extractfile(member)) is not None:
                yield member.name, file


class _Tar:
    """Reads at most `allowed` decompressed bytes of a tar: `tarfile` would read headers of any size into memory."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream, self._seen, self.allowed = stream, 0, MAX_BESIDE

    def read(self, size: int) -> bytes:
        try:
            part = self._stream.read(size)
        except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
            raise BadArchiveError(f"expected a readable tar or zip: {error}") from error
        self._seen += len(part)
        if self._seen > self.allowed:
            raise BadArchiveError("its names and headers are too large")
        return part


@contextmanager
def _unpacked(archive: Path) -> Iterator[_Tar]:
    with archive.open("rb") as packed:
        beginning = packed.read(6)
        packed.seek(0)
        opened = next((opens for mark, opens in _PACKED.items() if beginning.startswith(mark)), None)
        with opened(packed) if opened else nullcontext(packed) as stream:
            yield _Tar(stream)
