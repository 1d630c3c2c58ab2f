"""Sends requests to servers: checks redirections and headers, repeats failed requests, and words the errors."""

import os
import re
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, TypeVar
from urllib.parse import urljoin, urlsplit

import requests

from harness.credentials import Address
from harness.errors import UserError
from harness.text import printable

#: Remedies for temporary and for permanent failures.
CONTINUE, ADDRESS = "the same command continues", "check the address"

#: Time limits in seconds: for connecting, and between two bytes.
TIMEOUTS_S = (20, 60)

#: Pauses in seconds before the repetitions of a failed request.
PAUSES_S = (1, 3, 10, 30)

#: Remedies for an archive that is not at its address, and for a server or proxy that sends whole files only.
MOVED = "the archive has moved: a newer version of pgdl-harness may know its address"
BY_HAND = "download it with a browser, and unpack it with `pgdl task fetch file:///PATH --sha256 HEX`"

#: HTTP statuses of temporary failures; permanent errors that are subclasses of errors in `PASSING`.
_PASSING = (408, 425, 429, 500, 502, 503, 504)
_LASTING = (requests.exceptions.SSLError, requests.exceptions.ProxyError)

T = TypeVar("T")


def origin(url: str) -> str:
    """Return scheme and host of an address, for messages: all else may be secret."""
    try:
        address = urlsplit(url)
    except ValueError:
        return "no address"
    return f"{address.scheme}://{address.hostname}" if address.hostname else "another page"


def proxies_of(url: Address) -> dict[str, Address]:
    """Return scheme -> proxy for an address, from environment variables; raises `UserError` for an invalid proxy."""
    found = requests.utils.get_environ_proxies(url.reveal(), no_proxy=os.environ.get("NO_PROXY"))
    return {
        scheme: Address(proxy if "://" in proxy else f"http://{proxy}", f"{scheme.upper()}_PROXY")
        for scheme, proxy in found.items()
        if scheme in ("http", "https", "all")
    }


def connection_error(url: Address, error: Exception) -> UserError:
    """Return the error for a request that the server has not answered."""
    cause = url.scrub(_cause(error))
    if isinstance(error, requests.exceptions.InvalidURL):
        return UserError("not an address to download from", file=url, found=cause, remedy=ADDRESS)
    host = urlsplit(url.reveal()).hostname
    if isinstance(error, requests.exceptions.SSLError):
        remedy = "behind a proxy that inspects connections, REQUESTS_CA_BUNDLE names the file with its certificate"
        return UserError(f"the certificate of {host} is not accepted", file=url, found=cause, remedy=remedy)
    if isinstance(error, requests.exceptions.ProxyError):
        remedy = f"HTTPS_PROXY and HTTP_PROXY name proxies, NO_PROXY={host} goes around them"
        return UserError("the proxy does not answer, or refuses", file=url, found=_proxy(url), remedy=remedy)
    if isinstance(error, requests.exceptions.Timeout):
        return UserError(f"{host} is silent", file=url, found=cause, remedy=CONTINUE)
    if isinstance(error, requests.exceptions.TooManyRedirects):
        return UserError("leads in circles", file=url, found="30 redirects", remedy=ADDRESS)
    if isinstance(error, requests.exceptions.ConnectionError):
        remedy = f"check the network (a proxy is named by HTTPS_PROXY); {CONTINUE}"
        return UserError(f"{host} cannot be reached", file=url, found=cause, remedy=remedy)
    return UserError(f"cannot be fetched: {cause}", file=url, remedy=CONTINUE)


def response_error(url: Address, response: requests.Response, expected: str, moved: str) -> UserError:
    """Return the error for an answer with an unexpected status. If the file is not found, the remedy is `moved`."""
    found = printable(f"{response.status_code} {response.reason}")
    remedies = {404: moved, 410: moved, 407: "name user and password of the proxy in HTTPS_PROXY"}
    remedies |= dict.fromkeys((401, 403), f"the server refuses access: {ADDRESS}, and who may read the file")
    remedy = remedies.get(response.status_code, CONTINUE)
    return UserError("cannot be fetched", file=url, expected=expected, found=found, remedy=remedy)


def _cause(error: BaseException) -> str:
    """Return the innermost cause of an error of the library `requests`, as one line."""
    cause: object = error
    while isinstance(cause, BaseException):
        inner = getattr(cause, "reason", None) or next((a for a in cause.args if isinstance(a, Exception)), None)
        if not isinstance(inner, BaseException):
            break
        cause = inner
    text = " ".join(printable(str(cause)).split())
    text = re.sub(
        r"IncompleteRead\((\d+) bytes read, (\d+) more expected\)", r"cut off after \1 bytes, \2 missing", text
    )
    return re.sub(r"^<?\S*Connection\w*\(.*?\)>?: |^<.*?>: ", "", text)[:160]


def _proxy(url: Address) -> str:
    """Return host and port of the proxy for an address, without user and password; `none` if there is no proxy."""
    proxies = proxies_of(url)
    proxy = proxies.get(urlsplit(url.reveal()).scheme) or proxies.get("all")
    return str(proxy).partition("://")[2] if proxy else "none"


class Session(requests.Session):  # type: ignore[misc]  # requests has no types
    """A session of `requests` that does not follow redirections by itself: `ask` checks and follows them."""

    def resolve_redirects(self, *_: Any, **__: Any) -> Iterator[Any]:
        """Return an empty iterator: then `requests` follows no redirection."""
        return iter(())


def ask(session: Session, url: Address, **headers: str) -> requests.Response:
    """Send a request, follow redirections, and return the answer, whose content has not been read.

    Raises `UserError` if a redirection leads to an invalid address, or from https to http. Raises
    `requests.RequestException` if the server does not answer, or redirects too often.
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
    except ValueError:  # not UTF-8, an open bracket, or an invalid port
        is_address = False
    if not is_address:
        found = repr(printable(text))[:80]
        raise UserError("leads to no address", file=origin(response.url), found=found, remedy=ADDRESS)
    if response.url.startswith("https:") and address.scheme != "https":
        found = printable(origin(target))
        raise UserError("leads to an address without encryption", file=origin(response.url), found=found)
    return target


def content_length(response: requests.Response) -> int:
    """Return the size in bytes that an answer states, by default 0; raises `UserError` if the size is no number."""
    text = response.headers.get("Content-Length", "0")
    if not re.fullmatch(r"[0-9]{1,18}", text):
        raise _malformed(response, "Content-Length", "a number of bytes", text)
    return int(text)


def content_range(response: requests.Response) -> tuple[int, int]:
    """Return (position of a part in the file, size of the file); raises `UserError` if the header is malformed."""
    text = response.headers.get("Content-Range", "")
    match = re.fullmatch(r"bytes ([0-9]{1,18})-[0-9]{1,18}/([0-9]{1,18})", text.strip())
    if match is None:
        raise _malformed(response, "Content-Range", "bytes FIRST-LAST/SIZE", text)
    return int(match[1]), int(match[2])


def version_of(response: requests.Response) -> str | None:
    """Return the ETag of an answer as printable text; None without an ETag."""
    text = response.headers.get("ETag")
    return None if text is None else printable(text)[:200]


def written_at(response: requests.Response) -> datetime | None:
    """Return the time at which a file was changed (Last-Modified, UTC); None if the server does not tell."""
    try:
        return parsedate_to_datetime(response.headers["Last-Modified"]).astimezone(UTC)
    except (KeyError, ValueError, OverflowError):
        return None


def _malformed(response: requests.Response, header: str, expected: str, found: str) -> UserError:
    return UserError(header, file=origin(response.url), expected=expected, found=repr(found)[:80])


class LostConnectionError(Exception):
    """The connection ended before all bytes had arrived, or the server is temporarily unable to answer."""


#: Errors that may be temporary. Timeouts are not among them: each repetition would take another minute.
PASSING = (LostConnectionError, requests.ConnectionError, requests.exceptions.ChunkedEncodingError)


def persistently(attempt: Callable[[], T], url: Address, *passing: type[Exception]) -> T:
    """Return the result of `attempt`. Call it again after errors in `passing`; raise `UserError` if errors persist."""
    proxies_of(url)  # raises if a password in a proxy could be taken for a host
    problem: Exception = LostConnectionError()
    for pause_s in (0, *PAUSES_S):
        time.sleep(pause_s)
        try:
            return attempt()
        except (LostConnectionError, requests.RequestException) as error:
            problem = error
            if not isinstance(error, passing) or isinstance(error, _LASTING):
                break
    raise connection_error(url, problem) from problem


def get_part(session: Session, url: Address, wanted: str) -> requests.Response:
    """Request a part of a file, such as `bytes=0-99`. Raises `UserError` if the server sends only whole files."""
    response = ask(session, url, Range=wanted)
    require_ready(response)
    if response.status_code == requests.codes.ok:
        response.close()
        raise UserError("the server sends whole files only, no parts", file=url, remedy=BY_HAND)
    if response.status_code != requests.codes.partial_content:
        raise response_error(url, response, "206 Partial Content", MOVED)
    return response


def require_ready(response: requests.Response) -> None:
    """Raise `LostConnectionError` if the status says that the same request may succeed later."""
    if response.status_code in _PASSING:
        response.close()
        raise LostConnectionError(f"the server answers {response.status_code} {printable(response.reason)}")
