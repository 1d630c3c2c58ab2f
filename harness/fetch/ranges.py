"""Requests for parts of a file on a server, made again after errors that may pass."""

import time
from collections.abc import Callable
from typing import TypeVar

import requests

from harness.credentials import Address
from harness.errors import UserError
from harness.fetch.session import Session, ask
from harness.fetch.troubles import connection_error, proxies_of, response_error
from harness.text import printable

#: Seconds of waiting before a request that failed is made again; bytes that arrive begin the series anew.
PAUSES_S = (1, 3, 10, 30)

#: What to do about an archive that is not where the catalogue says.
MOVED = "the archive has moved: --catalogue names a catalogue with the new address"

#: Answers of a server that is busy, and errors that do not pass.
_PASSING = (408, 425, 429, 500, 502, 503, 504)
_LASTING = (requests.exceptions.SSLError, requests.exceptions.ProxyError)

T = TypeVar("T")


class NoRangesError(UserError):
    """The server sends whole files only."""


class LostConnectionError(Exception):
    """The connection ended before all bytes were there, or the server asks to come again."""


#: What may not happen the next time; a server that is silent would be so for minutes more.
PASSING = (LostConnectionError, requests.ConnectionError, requests.exceptions.ChunkedEncodingError)


def persistently(attempt: Callable[[], T], url: Address, *passing: type[Exception]) -> T:
    """Return what an attempt gives; it is made again after errors that may pass. Raises `UserError`."""
    proxies_of(url)  # refuses those whose password could be taken for a host
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
    """Return the answer to a request of a part; raises `UserError` unless it is one."""
    response = ask(session, url, Range=wanted)
    require_ready(response)
    if response.status_code == requests.codes.ok:
        response.close()
        remedy = "--whole fetches the whole archive"
        raise NoRangesError("the server sends whole files only, no parts", file=url, remedy=remedy)
    if response.status_code != requests.codes.partial_content:
        raise response_error(url, response, "206 Partial Content", MOVED)
    return response


def require_ready(response: requests.Response) -> None:
    """Raise `LostConnectionError` if the server is busy, or fails: it may not the next time."""
    if response.status_code in _PASSING:
        response.close()
        raise LostConnectionError(f"the server answers {response.status_code} {printable(response.reason)}")
