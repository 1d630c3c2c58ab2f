"""Reads parts of a file on a server, by HTTP range requests, or downloads the whole file."""

import io
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

import requests

from harness.credentials import Address
from harness.errors import UserError, writing
from harness.fetch.listing import MAX_LIST, BadArchiveError
from harness.fetch.session import (
    PASSING,
    LostConnectionError,
    Session,
    ask,
    content_length,
    content_range,
    get_part,
    persistently,
    require_ready,
    response_error,
    version_of,
    written_at,
)

#: Number of bytes from the end of an archive that are read first, since they contain the list of files; bytes per read.
TAIL, CHUNK = 4 * 1024**2, 256 * 1024


@dataclass(frozen=True)
class RemoteFile:
    """A file on a server."""

    url: Address
    length: int  #: size in bytes
    etag: str | None  #: the server's tag of this version; None if the server sends no tag
    tail: bytes
    boundaries: Sequence[int] = ()  #: ascending positions where members begin: no request ends inside a member

    def within(self, boundaries: Sequence[int]) -> "RemoteFile":
        """Return a copy with these `boundaries`, and with a `tail` that begins at or before the last boundary."""
        with self.open() as reader:
            reader.seek(min(boundaries[-1], self.length - len(self.tail)))
            return replace(self, boundaries=boundaries, tail=reader.read())

    def open(self, seen: Callable[[int], None] = lambda _: None) -> "RangeReader":
        """Return a reader with its own connection. `seen` is called with the size of each piece that arrives."""
        return RangeReader(self, seen)


def find_remote(url: Address) -> RemoteFile:
    """Ask a server for the size and the last bytes of a file, and return the file.

    Raises `UserError` if the server sends only whole files, lacks the file or is silent.
    """
    with Session() as session:
        length, etag = persistently(lambda: _ask(session, url), url, LostConnectionError)
    with RemoteFile(url, length, etag, b"").open() as reader:
        reader.seek(max(length - TAIL, 0))
        return RemoteFile(url, length, etag, reader.read())


def _ask(session: Session, url: Address) -> tuple[int, str | None]:
    """Return the size of a file, and the ETag (the server's tag of the version)."""
    response = get_part(session, url, "bytes=-1")
    response.close()
    return content_range(response)[1], version_of(response)


class RangeReader(io.RawIOBase):
    """Reads a file on a server. If the connection is lost, a new connection continues at the same position.

    Reading raises `UserError` if a new connection does not help, or if the file has changed. It raises
    `BadArchiveError` for a request of more than `MAX_LIST` bytes.
    """

    def __init__(self, file: RemoteFile, seen: Callable[[int], None]) -> None:
        self._file, self._seen = file, seen
        self._session = Session()
        self._position = 0
        self._chunks: Iterator[bytes] = iter(())  # content of the open response
        self._chunk, self._next = b"", -1  # rest of a piece, and its position in the file

    def tell(self) -> int:
        """Return the position in bytes."""
        return self._position

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Move to a position, and return it. Nothing is requested yet."""
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self._file.length}[whence]
        if base + offset < 0:
            raise ValueError(f"{self._file.length} bytes, too few for a zip archive")
        self._position = base + offset
        return self._position

    def read(self, size: int | None = -1) -> bytes:
        """Return `size` bytes, or fewer at the end of the file. For None or -1, return all bytes to the end."""
        left = max(self._file.length - self._position, 0)
        size = left if size is None or size < 0 else min(size, left)
        if size > MAX_LIST:
            raise BadArchiveError(f"expected at most {MAX_LIST} bytes at once, found {size}")
        parts = []
        while size > 0:
            parts.append(self._read_some(size))
            self._position += len(parts[-1])
            size -= len(parts[-1])
        return b"".join(parts)

    def close(self) -> None:
        """Close the connection."""
        self._session.close()
        super().close()

    def _read_some(self, size: int) -> bytes:
        inside = self._position - (self._file.length - len(self._file.tail))
        if inside >= 0:
            return self._file.tail[inside : inside + size]
        return persistently(lambda: self._receive(size), self._file.url, LostConnectionError, requests.RequestException)

    def _receive(self, size: int) -> bytes:
        if self._next != self._position:
            self._request()
        self._next = -1  # after an error, the next read makes a new request
        if not self._chunk:
            self._chunk = next(self._chunks, b"")
            self._seen(len(self._chunk))
        if not self._chunk:
            raise LostConnectionError("the connection ended too early")
        part, self._chunk = self._chunk[:size], self._chunk[size:]
        self._next = self._position + len(part)
        return part

    def _request(self) -> None:
        ends = [*self._file.boundaries, self._file.length - len(self._file.tail)]
        end = ends[min(bisect_right(ends, self._position), len(ends) - 1)]
        response = get_part(self._session, self._file.url, f"bytes={self._position}-{end - 1}")
        start, length = content_range(response)
        etag = version_of(response)
        if (length, etag) != (self._file.length, self._file.etag):
            found = f"{length} bytes (ETag {etag})"
            expected = f"{self._file.length} bytes (ETag {self._file.etag}) as before"
            raise UserError("the archive has changed", file=self._file.url, expected=expected, found=found,
                            remedy="the same command fetches the new archive")  # fmt: skip
        if start != self._position:
            raise UserError("cannot be fetched", file=self._file.url, expected=f"bytes from {self._position}",
                            found=f"from {start}")  # fmt: skip
        self._chunks, self._chunk = response.iter_content(CHUNK), b""
        self._next = self._position


def fetch_file(url: Address, target: Path, *, most: int, moved: str) -> datetime | None:
    """Download the content of an address; return the time of its last change, None if the server does not tell.

    Raises `UserError` if the content cannot be downloaded, is cut off or too large, or the disk is full.

    Args:
        url: the address.
        target: the file to write; it appears only when it is complete.
        most: maximum size in bytes.
        moved: remedy in the error message if the server has no such file.
    """
    partial = target.with_name(f"{target.name}.partial")

    def attempt() -> datetime | None:
        with Session() as session, ask(session, url) as response:
            require_ready(response)
            if response.status_code != requests.codes.ok:
                raise response_error(url, response, "200 OK", moved)
            length, size = content_length(response), 0
            with writing(partial, remedy="free some space"):
                file = partial.open("wb")
            with file:
                for chunk in response.iter_content(CHUNK):  # not within `writing`: here, an OSError is of the network
                    size += len(chunk)
                    if size > most:
                        raise UserError("too large", file=url, expected=f"at most {most} bytes")
                    with writing(partial, remedy="free some space"):
                        file.write(chunk)
        if length not in (0, size):
            raise LostConnectionError(f"cut off after {size} of {length} bytes")
        return written_at(response)

    try:
        written = persistently(attempt, url, *PASSING)
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)
    return written
