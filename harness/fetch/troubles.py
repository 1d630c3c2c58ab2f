"""What to say of a server that cannot be reached, or refuses: one line with a remedy."""

import os
import re
from urllib.parse import urlsplit, urlunsplit

import requests
from requests import exceptions

from harness.errors import UserError
from harness.text import printable

#: Remedies: of what may not happen the next time, and of what will.
CONTINUE, ADDRESS = "the same command continues", "check the address"


def public(url: str) -> str:
    """Return an address for messages and records: a query, or a password, may be all that it takes to read a file."""
    try:
        address = urlsplit(url)
    except ValueError:  # it is none
        return url.partition("?")[0].rpartition("@")[2]
    return urlunsplit(address._replace(netloc=address.netloc.rpartition("@")[2], query="", fragment=""))


def connection_error(url: str, error: Exception) -> UserError:
    """Return the message on a request that was not answered."""
    url = public(url)
    if isinstance(error, exceptions.InvalidURL):
        return UserError("not an address to download from", file=url, found=_cause(error), remedy=ADDRESS)
    host = urlsplit(url).hostname
    if isinstance(error, exceptions.SSLError):
        remedy = "behind a proxy that inspects connections, REQUESTS_CA_BUNDLE names the file with its certificate"
        return UserError(f"the certificate of {host} is not accepted", file=url, found=_cause(error), remedy=remedy)
    if isinstance(error, exceptions.ProxyError):
        remedy = f"HTTPS_PROXY and HTTP_PROXY name proxies, NO_PROXY={host} goes around them"
        return UserError("the proxy does not answer, or refuses", file=url, found=_proxy(url), remedy=remedy)
    if isinstance(error, exceptions.Timeout):
        return UserError(f"{host} is silent", file=url, found=_cause(error), remedy=CONTINUE)
    if isinstance(error, exceptions.TooManyRedirects):
        return UserError("leads in circles", file=url, found="30 redirects", remedy=ADDRESS)
    if isinstance(error, exceptions.ConnectionError):
        remedy = f"check the network (a proxy is named by HTTPS_PROXY); {CONTINUE}"
        return UserError(f"{host} cannot be reached", file=url, found=_cause(error), remedy=remedy)
    return UserError(f"cannot be fetched: {_cause(error)}", file=url, remedy=CONTINUE)


def response_error(url: str, response: requests.Response, expected: str, moved: str) -> UserError:
    """Return the message on an answer that is not the expected one; `moved` is the remedy if there is no such file."""
    found = printable(f"{response.status_code} {response.reason}")
    remedies = {404: moved, 410: moved, 407: "name user and password of the proxy in HTTPS_PROXY"}
    remedies |= dict.fromkeys((401, 403), f"the server gives it to others only: {ADDRESS}, and who may read it")
    remedy = remedies.get(response.status_code, CONTINUE)
    return UserError("cannot be fetched", file=public(url), expected=expected, found=found, remedy=remedy)


def _cause(error: BaseException) -> str:
    """Return the innermost reason, in one line."""
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


def _proxy(url: str) -> str:
    """Return the proxy of an address, without its password."""
    proxy = requests.utils.get_environ_proxies(url, no_proxy=os.environ.get("NO_PROXY")).get(urlsplit(url).scheme, "")
    return printable(f"{urlsplit(proxy).hostname}:{urlsplit(proxy).port}") if proxy else "none"
