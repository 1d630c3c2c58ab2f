"""Downloads an archive of tasks whose digest is known, and unpacks it after the digest has been verified."""

import hashlib
import re
import tarfile
import tempfile
import urllib.request
import zipfile
import zlib
from collections.abc import Iterator
from http.client import HTTPException
from pathlib import Path
from typing import IO

from harness.errors import UserError
from harness.fetch.members import (
    MAX_ARCHIVE,
    MAX_BYTES,
    MAX_FILES,
    BadArchiveError,
    checked_path,
    require_regular,
    shown,
)

#: Seconds without a byte after which a download fails, and bytes read at once.
SILENCE_S, CHUNK = 60, 1024**2

SCHEMES = ("https", "http", "file")

#: File in the directory with the digest of the archive that its content comes from.
MARK = ".archive-sha256"


def fetch_tasks(url: str, sha256: str, directory: Path) -> bool:
    """Download an archive (tar in any compression, or zip) and unpack it as `directory`.

    Returns False without any download if `directory` comes from the same archive. Nothing is left behind by a failure.

    Raises:
        UserError: another digest; an address that cannot be read; an archive with links, devices or paths that lead
            outside, or that is too large; `directory` exists and is of another origin.
    """
    require_digest(sha256)
    if directory.exists():
        return _require_same(directory, sha256)
    try:
        directory.absolute().parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".fetching-", dir=directory.absolute().parent) as private:
            archive, unpacked = Path(private, "archive"), Path(private, "tasks")
            found = download(url, archive)
            if found != sha256:
                remedy = "nothing was unpacked; compare both with the digest that the tasks' owner announced"
                raise UserError(
                    "another archive than the expected one", file=url, expected=sha256, found=found, remedy=remedy
                )
            unpacked.mkdir()
            _unpack(archive, unpacked)
            (unpacked / MARK).write_text(f"{sha256}\n")
            unpacked.rename(directory)
    except BadArchiveError as error:
        raise UserError(f"cannot be unpacked: {error}", file=url) from error
    except (OSError, HTTPException, ValueError) as error:
        raise UserError(f"cannot be fetched: {error}", file=url) from error
    return True


def require_digest(sha256: str) -> None:
    """Raise `UserError` unless the text is a SHA-256."""
    if not re.fullmatch(r"[0-9a-f]{64}", sha256):
        raise UserError("--sha256", expected="64 hexadecimal digits in lower case", found=repr(sha256))


def _require_same(directory: Path, sha256: str) -> bool:
    mark = directory / MARK
    if mark.is_file() and mark.read_text().strip() == sha256:
        return False
    found = "tasks of another archive" if mark.is_file() else "other files"
    raise UserError("exists already", file=directory, found=found, remedy="remove it, or name another with --tasks")


def download(url: str, target: Path) -> str:
    """Write the content at an address to a file, and return its SHA-256 (hex); raises `OSError` and others."""
    scheme = url.partition(":")[0].lower()
    if scheme not in SCHEMES:
        raise UserError("not an address to download from", file=url, expected=f"{', '.join(SCHEMES)}", found=scheme)
    digest, size = hashlib.sha256(), 0
    with urllib.request.urlopen(url, timeout=SILENCE_S) as source, target.open("wb") as file:  # noqa: S310 - see SCHEMES
        while chunk := source.read(CHUNK):
            size += len(chunk)
            if size > MAX_ARCHIVE:
                raise BadArchiveError(f"expected at most {MAX_ARCHIVE / 1024**3:g} GiB, found more")
            digest.update(chunk)
            file.write(chunk)
    return digest.hexdigest()


def _unpack(archive: Path, target: Path) -> None:
    """Write the files of an archive; limits apply to the bytes that come out of it, not to declared sizes."""
    written = 0
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
                    file.write(chunk)
    except (tarfile.TarError, zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise BadArchiveError(f"expected a readable tar or zip: {error}") from error
    except (FileExistsError, NotADirectoryError, IsADirectoryError) as error:
        raise BadArchiveError(f"two files of one name: {Path(error.filename).relative_to(target)}") from error


def _members(archive: Path) -> Iterator[tuple[str, IO[bytes]]]:
    """Yield name and content of each file; raises `BadArchiveError` for links and devices."""
    if zipfile.is_zipfile(archive):
        with zipfile.ZipFile(archive) as members:
            for entry in members.infolist():
                require_regular(entry)
                if not entry.is_dir():
                    with members.open(entry) as content:
                        yield entry.filename, content
        return
    with tarfile.open(archive, "r|*") as stream:
        for member in stream:
            if not (member.isreg() or member.isdir()):
                raise BadArchiveError(f"{shown(member.name)}: expected a regular file")
            if member.isreg() and (file := stream.extractfile(member)) is not None:
                yield member.name, file
