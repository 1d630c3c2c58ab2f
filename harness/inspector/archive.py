"""Reads a submission in a zip. Limits apply to the unpacked bytes, not to the sizes that the zip states."""

import os
import stat
import struct
import zipfile
from typing import BinaryIO

from harness.inspector.files import Files, SubmissionError, check_name, is_leftover
from harness.inspector.folder import open_regular, reading
from harness.inspector.limits import MAX_ENTRIES

#: Signature and size of the record at the end of a zip, of the zip64 locator before it, and of an entry.
_END, _END_SIZE = b"PK\5\6", 22
_END_64, _END_64_SIZE = b"PK\6\7", 20
_ENTRY, _ENTRY_SIZE = b"PK\1\2", 46

#: Longest comment at the end of a zip, in bytes.
_MAX_COMMENT = 0xFFFF

#: Compression methods that can be decoded in small pieces. With others, a few bytes may become gigabytes at once.
_COMPRESSIONS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_OTHERS = {9: "deflate64", zipfile.ZIP_BZIP2: "bzip2", zipfile.ZIP_LZMA: "lzma", 93: "zstd"}


def read_zip(path: str, files: Files) -> None:
    """Read a zip's content into `files`, without writing to disk. Raise `SubmissionError` if the zip is damaged."""
    name = os.path.basename(path)  # noqa: PTH119
    with reading(""):
        stream = open_regular(path, name)
    with stream:
        try:
            _count_entries(stream, files)
            with zipfile.ZipFile(stream) as archive:
                for member in archive.infolist():
                    _read_member(archive, member, files)
        except (SubmissionError, MemoryError):
            raise
        except Exception as error:  # decoders may raise any error on a damaged zip
            raise SubmissionError(f"{name}: expected a readable zip: {error}") from error


def _count_entries(stream: BinaryIO, files: Files) -> None:
    """Count the entries of a zip before `zipfile` reads them: the number that the zip states may be false."""
    size = stream.seek(0, os.SEEK_END)
    stream.seek(max(size - _END_SIZE - _MAX_COMMENT - _END_64_SIZE, 0))
    tail = stream.read()
    bare = tail[-_END_SIZE:]  # without a comment, the record is here
    end = len(tail) - _END_SIZE if bare.startswith(_END) and bare.endswith(b"\0\0") else tail.rfind(_END)
    if not 0 <= end <= len(tail) - _END_SIZE:
        return  # not a zip, as `ZipFile` will report
    if tail[max(end - _END_64_SIZE, 0) :].startswith(_END_64):
        raise SubmissionError(f"expected a zip of at most {MAX_ENTRIES} files and folders, found a zip64")
    declared, list_size = struct.unpack("<10xHI6x", tail[end : end + _END_SIZE])
    if declared > MAX_ENTRIES:
        raise SubmissionError(f"expected at most {MAX_ENTRIES} files and folders, found {declared}")
    position = size - len(tail) + end - list_size
    stream.seek(max(position, 0))
    while (entry := stream.read(_ENTRY_SIZE)).startswith(_ENTRY) and len(entry) == _ENTRY_SIZE:
        files.count_entry()
        stream.seek(sum(struct.unpack("<28xHHH12x", entry)), os.SEEK_CUR)


def _read_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo, files: Files) -> None:
    path = member.filename.replace("\\", "/")  # written on Windows; `unzip` takes it as a separator, too
    parts = [part for part in path.split("/") if part not in ("", ".")]
    if path.endswith("/") or any(map(is_leftover, parts)):
        return
    if path.startswith("/") or ".." in parts or not parts:
        raise SubmissionError(f"{member.filename}: expected a path inside the zip")
    kind = stat.S_IFMT(member.external_attr >> 16)
    if kind not in (0, stat.S_IFREG):
        found = "a link" if kind == stat.S_IFLNK else "a device, pipe or socket"
        raise SubmissionError(f"{member.filename}: expected a regular file, found {found}")
    if member.compress_type not in _COMPRESSIONS:
        found = _OTHERS.get(member.compress_type, f"method {member.compress_type}")
        raise SubmissionError(f"{member.filename}: expected a member that is stored or deflated, found {found}")
    name = "/".join(parts)
    check_name(name)
    with archive.open(member) as content:
        files.read(name, content)
