"""A whole file from a server; it has its name on disk only when all of it is there."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import datetime
from pathlib import Path
from typing import IO, NamedTuple

import requests

from harness.credentials import Address
from harness.errors import UserError, writing
from harness.fetch.ranges import PASSING, LostConnectionError, persistently, require_ready
from harness.fetch.remote import CHUNK
from harness.fetch.session import Session, ask, content_length, version_of, written_at
from harness.fetch.troubles import response_error


class Version(NamedTuple):
    """What a server calls a version of a file (its ETag), and when it was written; None if the server does not say."""

    etag: str | None
    written: datetime | None


def fetch_file(
    url: Address, target: Path, begin: Callable[[int], None], seen: Callable[[int], None], *, most: int, moved: str
) -> Version:
    """Write the content at an address to a file; the request is made again after errors that may pass.

    Returns what the server says of this version.

    Args:
        url: the address.
        target: the file.
        begin: is told the size in bytes before they travel, 0 if the server does not say.
        seen: is told the number of bytes as they arrive.
        most: bytes of a file that is not too large.
        moved: the remedy if there is no such file.

    Raises:
        UserError: it cannot be fetched, is cut off or too large, or the disk is full.
    """
    partial = target.with_name(f"{target.name}.partial")

    def attempt() -> Version:
        with Session() as session, ask(session, url) as response:
            require_ready(response)
            if response.status_code != requests.codes.ok:
                raise response_error(url, response, "200 OK", moved)
            length = content_length(response)
            begin(length)
            with _writing(partial):
                file = partial.open("wb")
            with file:
                size = _copy(response, file, seen, most, url)
        if length not in (0, size):
            raise LostConnectionError(f"cut off after {size} of {length} bytes")
        return Version(version_of(response), written_at(response))

    try:
        version = persistently(attempt, url, *PASSING)
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)  # it is never continued
    return version


def _copy(
    response: requests.Response, file: IO[bytes], seen: Callable[[int], None], most: int, url: Address
) -> int:  # fmt: skip
    size = 0
    for chunk in response.iter_content(CHUNK):  # its errors are the operating system's, too, but not the disk's
        size += len(chunk)
        if size > most:
            raise UserError("too large", file=url, expected=f"at most {most} bytes")
        with _writing(Path(file.name)):
            file.write(chunk)
        seen(len(chunk))
    return size


def _writing(partial: Path) -> AbstractContextManager[None]:
    return writing(partial, remedy="free some space")
