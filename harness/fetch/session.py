"""Requests to servers: every step of a redirection is looked at before it is taken, and every header that is used."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urljoin, urlsplit

import requests

from harness.credentials import Address
from harness.errors import UserError
from harness.fetch.troubles import ADDRESS, origin
from harness.text import printable

#: Seconds to connect, and seconds without a byte, after which a request is given up.
TIMEOUTS_S = (20, 60)


class Session(requests.Session):  # type: ignore[misc]  # requests has no types
    """Connections to servers that take no redirection by themselves.

    requests would read all of the answer that redirects, and look at no address before it asks there.
    """

    def resolve_redirects(self, *_: Any, **__: Any) -> Iterator[Any]:
        """Yield nothing."""
        return iter(())


def ask(session: Session, url: Address, **headers: str) -> requests.Response:
    """Return the beginning of the answer to a request, behind all redirections.

    Raises:
        UserError: a redirection leads to no address, or from encryption to an address without it.
        requests.RequestException: the server does not answer, or there are too many redirections.
    """
    headers, address = {"Accept-Encoding": "identity"} | headers, url.reveal()
    for _ in range(session.max_redirects + 1):
        response = session.get(address, headers=headers, stream=True, timeout=TIMEOUTS_S)
        if not response.is_redirect:
            return response
        response.close()
        address = _next_address(response)
    raise requests.TooManyRedirects


def _next_address(response: requests.Response) -> str:
    text = response.headers["Location"]
    try:
        target: str = urljoin(response.url, text.encode("latin1").decode())
        address = urlsplit(target)
        is_address = address.scheme in ("http", "https") and bool(address.hostname) and address.port != 0
    except ValueError:  # text that is not UTF-8, a bracket that is not closed, a port that is not a number
        is_address = False
    if not is_address:
        found = repr(printable(text))[:80]
        raise UserError("leads to no address", file=origin(response.url), found=found, remedy=ADDRESS)
    if response.url.startswith("https:") and address.scheme != "https":
        found = printable(origin(target))
        raise UserError("leads to an address without encryption", file=origin(response.url), found=found)
    return target


def content_length(response: requests.Response) -> int:
    """Return the size in bytes that an answer declares, 0 if it does not; raises `UserError` for no number."""
    text = response.headers.get("Content-Length", "0")
    if not re.fullmatch(r"[0-9]{1,18}", text):
        raise _malformed(response, "Content-Length", "a number of bytes", text)
    return int(text)


def content_range(response: requests.Response) -> tuple[int, int]:
    """Return the position of a part, and the size of the file; raises `UserError` for anything else."""
    text = response.headers.get("Content-Range", "")
    match = re.fullmatch(r"bytes ([0-9]{1,18})-[0-9]{1,18}/([0-9]{1,18})", text.strip())
    if match is None:
        raise _malformed(response, "Content-Range", "bytes FIRST-LAST/SIZE", text)
    return int(match[1]), int(match[2])


def version_of(response: requests.Response) -> str | None:
    """Return what the server calls this version of a file (its ETag), in printable text; None if it does not say."""
    text = response.headers.get("ETag")
    return None if text is None else printable(text)[:200]


def written_at(response: requests.Response) -> datetime | None:
    """Return when a file was written (its Last-Modified, UTC); None if the server does not say."""
    try:
        return parsedate_to_datetime(response.headers["Last-Modified"]).astimezone(UTC)
    except (KeyError, ValueError, OverflowError):
        return None


def _malformed(response: requests.Response, header: str, expected: str, found: str) -> UserError:
    return UserError(header, file=origin(response.url), expected=expected, found=repr(found)[:80])
