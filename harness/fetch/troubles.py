"""What to say of a server that cannot be reached, or refuses: one line with a remedy."""

import os
import re
from urllib.parse import urlsplit

import requests
from requests import exceptions

from harness.credentials import Address
from harness.errors import UserError
from harness.text import printable

#: Remedies: of what may not happen the next time, and of what will.
CONTINUE, ADDRESS = "the same command continues", "check the address"


def origin(url: str) -> str:
    """Return scheme and host of an address that a server has named: the rest may be enough to read a file."""
    try:
        address = urlsplit(url)
    except ValueError:
        return "no address"
    return f"{address.scheme}://{address.hostname}" if address.hostname else "another page"


def proxies_of(url: Address) -> dict[str, Address]:
    """Return the proxies for an address, by scheme; raises `UserError` for one that has several meanings."""
    found = requests.utils.get_environ_proxies(url.reveal(), no_proxy=os.environ.get("NO_PROXY"))
    return {
        scheme: Address(proxy if "://" in proxy else f"http://{proxy}", f"{scheme.upper()}_PROXY")
        for scheme, proxy in found.items()
        if scheme in ("http", "https", "all")
    }


def connection_error(url: Address, error: Exception) -> UserError:
    """Return the message on a request that was not answered."""
    cause = url.scrub(_cause(error))
    if isinstance(error, exceptions.InvalidURL):
        return UserError("not an address to download from", file=url, found=cause, remedy=ADDRESS)
    host = urlsplit(url.reveal()).hostname
    if isinstance(error, exceptions.SSLError):
        remedy = "behind a proxy that inspects connections, REQUESTS_CA_BUNDLE names the file with its certificate"
        return UserError(f"the certificate of {host} is not accepted", file=url, found=cause, remedy=remedy)
    if isinstance(error, exceptions.ProxyError):
        remedy = f"HTTPS_PROXY and HTTP_PROXY name proxies, NO_PROXY={host} goes around them"
        return UserError("the proxy does not answer, or refuses", file=url, found=_proxy(url), remedy=remedy)
    if isinstance(error, exceptions.Timeout):
        return UserError(f"{host} is silent", file=url, found=cause, remedy=CONTINUE)
    if isinstance(error, exceptions.TooManyRedirects):
        return UserError("leads in circles", file=url, found="30 redirects", remedy=ADDRESS)
    if isinstance(error, exceptions.ConnectionError):
        remedy = f"check the network (a proxy is named by HTTPS_PROXY); {CONTINUE}"
        return UserError(f"{host} cannot be reached", file=url, found=cause, remedy=remedy)
    return UserError(f"cannot be fetched: {cause}", file=url, remedy=CONTINUE)


def response_error(url: Address, response: requests.Response, expected: str, moved: str) -> UserError:
    """Return the message on an answer that is not the expected one; `moved` is the remedy if there is no such file."""
    found = printable(f"{response.status_code} {response.reason}")
    remedies = {404: moved, 410: moved, 407: "name user and password of the proxy in HTTPS_PROXY"}
    remedies |= dict.fromkeys((401, 403), f"the server gives it to others only: {ADDRESS}, and who may read it")
    remedy = remedies.get(response.status_code, CONTINUE)
    return UserError("cannot be fetched", file=url, expected=expected, found=found, remedy=remedy)


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


def _proxy(url: Address) -> str:
    """Return the proxy of an address, without user and password."""
    proxies = proxies_of(url)
    proxy = proxies.get(urlsplit(url.reveal()).scheme) or proxies.get("all")
    return str(proxy).partition("://")[2] if proxy else "none"
