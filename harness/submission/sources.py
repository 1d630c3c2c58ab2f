"""Reads a submission's files into memory: regular files only, bounded in number and size."""

import errno
import os
import stat
import zipfile
from pathlib import Path, PurePosixPath

from harness.errors import UserError

MAX_FILES = 200
MAX_BYTES = 50 * 1024**2

#: What archivers and editors leave behind; never part of a submission.
IGNORED = ("__MACOSX", "__pycache__", ".DS_Store", ".git")


class SubmissionError(Exception):
    """The submission cannot be run; the message says what was expected and what was found."""


def read_file(path: Path) -> dict[str, bytes]:
    """A single .py file is a submission whose complexity.py it is."""
    if path.suffix != ".py":
        raise UserError(
            "not a submission",
            file=path,
            expected="a .py file, a directory or a .zip",
            found=path.suffix or "no suffix",
        )
    return {"complexity.py": _bounded({}, path.name, _read_regular(path.resolve(), path.name))}


def read_directory(path: Path) -> dict[str, bytes]:
    """Read a directory's regular files; links and special files are refused, never followed."""
    files: dict[str, bytes] = {}

    def refuse(error: OSError) -> None:
        raise SubmissionError(f"{Path(error.filename).name}: cannot be read: {error.strerror}") from error

    for folder, folders, names in os.walk(path, onerror=refuse):
        folders[:] = sorted(name for name in folders if name not in IGNORED)
        for name in [*folders, *sorted(names)]:
            file = Path(folder, name)
            relative = file.relative_to(path).as_posix()
            if name in IGNORED or (name in folders and not file.is_symlink()):
                continue
            files[relative] = _bounded(files, relative, _read_regular(file, relative))
    return _checked_names(files)


def read_zip(path: Path) -> dict[str, bytes]:
    """Read a zip's members; nothing is extracted to disk."""
    files: dict[str, bytes] = {}
    if not path.is_file():
        raise SubmissionError(f"{path.name}: expected a regular file, found a device, pipe or socket")
    try:
        with zipfile.ZipFile(path) as archive:
            for member in archive.infolist():
                parts = PurePosixPath(member.filename).parts
                if member.is_dir() or any(part in IGNORED for part in parts):
                    continue
                if member.filename.startswith("/") or ".." in parts:
                    raise SubmissionError(f"{member.filename}: expected a path inside the zip")
                if stat.S_ISLNK(member.external_attr >> 16):
                    raise SubmissionError(f"{member.filename}: expected a regular file, found a link")
                name = PurePosixPath(member.filename).as_posix()
                _bounded(files, name, b"", size=member.file_size)
                with archive.open(member) as stream:
                    files[name] = _bounded(files, name, stream.read(MAX_BYTES + 1))
    except SubmissionError:
        raise
    except Exception as error:  # a damaged zip makes its decoders raise whatever they like
        raise SubmissionError(f"{path.name}: expected a readable zip: {error}") from error
    return _checked_names(files)


def _checked_names(files: dict[str, bytes]) -> dict[str, bytes]:
    """Return `files` if every file system can hold them: staging must not fail half-way through a run."""
    for name in files:
        path = PurePosixPath(name)
        if not (name.isprintable() and len(name) <= 400 and all(len(part.encode()) <= 255 for part in path.parts)):
            raise SubmissionError(f"{name[:80]}: expected a name of at most 255 printable characters")
        if not path.parts or any(str(parent) in files for parent in path.parents):
            raise SubmissionError(f"{name}: expected a file, found a directory of the same name")
    return files


def _read_regular(file: Path, relative: str) -> bytes:
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError as error:
        if file.is_symlink():
            raise SubmissionError(f"{relative}: expected a regular file, found a link") from error
        if error.errno == errno.ENXIO:
            raise SubmissionError(f"{relative}: expected a regular file, found a device, pipe or socket") from error
        raise UserError(f"cannot be read: {error.strerror}", file=file) from error
    with os.fdopen(descriptor, "rb") as stream:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise SubmissionError(f"{relative}: expected a regular file, found a device, pipe or socket")
        return stream.read(MAX_BYTES + 1)


def _bounded(files: dict[str, bytes], name: str, content: bytes, size: int = 0) -> bytes:
    """Return `content` if the submission stays within its limits with it."""
    if len(files) >= MAX_FILES:
        raise SubmissionError(f"expected at most {MAX_FILES} files, found more")
    if sum(map(len, files.values())) + max(len(content), size) > MAX_BYTES:
        raise SubmissionError(f"{name}: expected at most {MAX_BYTES // 1024**2} MiB in all, found more")
    return content
