"""Hides secrets: passwords and keys in addresses of databases and servers, and values with names such as `API_KEY`."""

import re
from pathlib import Path
from urllib.parse import quote, unquote, unquote_plus, urlsplit

from harness.errors import UserError
from harness.text import HIDDEN, without_passwords

#: Default file for records.
RESULTS = "results.db"

#: A value may be secret if its name contains one of these words or its plural.
_SECRETS = {"apikey", "auth", "authorization", "bearer", "cookie", "key", "passcode", "passw", "pwd", "secret"}

#: A value may be secret if a word in its name ends with one of these, as in `dbpassword` or `MYTOKEN`.
_ENDS = ("accesskey", "credential", "passphrase", "passwd", "password", "privatekey", "secretkey", "token")

#: A word in a name of any style: API_KEY, api_key, ApiKey, apiKey2.
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")

#: An address in which all special characters inside a part are escaped, so that all libraries agree on its parts.
_URL = re.compile(
    r"(?P<scheme>[A-Za-z][\w+.-]*)://"
    r"(?:(?P<user>[^\s@:/?#\[\]]*)(?P<colon>:(?P<password>[^@/?#\[\]]*))?@)?"
    r"(?P<host>(?:[\w.,~%-]*|\[[0-9A-Fa-f:.]+\])(?::\d{0,5})?)"
    r"(?P<path>(?:/[^@?#]*)?)"
    r"(?:\?(?P<query>[^@#]*))?(?:#(?P<fragment>[^@]*))?"
)

#: Addresses of files, in whose names most characters need no escape; schemes of web addresses.
_OF_FILE = re.compile(r"(?P<start>sqlite(?:\+\w+)?:///?|file://)(?P<path>[^?]*)(?:\?(?P<query>.*))?", re.DOTALL)
_WEB = ("http", "https")

#: A percent sign that is not the beginning of an escape.
_HALF = re.compile("%(?![0-9A-Fa-f]{2})")

#: Names of databases on a server; names of users that may be shown.
_NAME, _USER = re.compile(r"[\w.~%+/ -]*"), re.compile(r"[\w.+%-]*")

#: Parameters instead of an address, such as `host=db user=me`; parameters with a password.
_PARAMETERS = re.compile(
    r"(?:^|[\s;])(?:data source|database|dbname|host|hostaddr|port|server|service|uid|user|username)\s*=", re.IGNORECASE
)
_PASSWORD = re.compile(r"\b(?:ssl)?(?:password|passwd|pwd)\s*=", re.IGNORECASE)

#: Parameters whose names messages may show.
_PARAMETER_NAMES = {"connect_timeout", "host", "mode", "password", "port", "sslmode", "uri", "user"}

#: Beginnings of paths that are certainly no addresses with a mistyped scheme.
_PATH = re.compile(r"/(?!/)|\.{1,2}/|[A-Za-z]:[\\/]")


class Address:
    """The address of a database, a server or a file.

    The text form hides passwords, and parameters, which may be secret. In a web address, it also hides the user name,
    which alone may give access to a file.
    """

    __slots__ = ("_secrets", "_shown", "_text")

    def __init__(self, text: str, source: str) -> None:
        """Parse an address, or the path of a file. `source` is the option or file that contains `text`, for messages.

        Raise `UserError` if `text` is empty, no address, or ambiguous, for instance because of an unescaped @ in a
        password. The message does not quote `text`.
        """
        if not text:
            raise UserError("an empty text", file=source, expected="an address, or the path of a file")
        self._text, self._shown = text, text
        self._secrets: tuple[str, ...] = ()
        if not self.is_url:
            _require_path(text, source)
        elif of_file := _OF_FILE.fullmatch(text):
            _require_path(of_file["path"].removeprefix("file:"), source)
            query = of_file["query"] or ""
            self._hide(of_file["start"] + of_file["path"] + f"?{HIDDEN}" * bool(query), query)
        else:
            self._parse(text, source)

    @classmethod
    def of(cls, given: "Address | Path | str", source: str) -> "Address":
        """Parse an address or path; return an `Address` unchanged. Raise the errors of the constructor."""
        return given if isinstance(given, cls) else cls(str(given), source)

    @property
    def is_url(self) -> bool:
        """Whether this is an address with a scheme, and not a path."""
        return "://" in self._text

    @property
    def has_secrets(self) -> bool:
        """Whether the text form hides a part of the address."""
        return self._shown != self._text

    def reveal(self) -> str:
        """Return the address with its secrets, for the library that connects."""
        return self._text

    def scrub(self, text: str) -> str:
        """Return a text, such as an error message of a database's driver, without the secrets of this address."""
        for secret in self._secrets:
            alone = ("", "") if len(secret) > 3 else (r"(?<!\w)", r"(?!\w)")  # a secret such as 1 is part of many words
            text = re.sub(re.escape(secret).join(alone), HIDDEN, text)
        return without_passwords(text)

    def __str__(self) -> str:
        return self._shown

    def __repr__(self) -> str:
        return f"Address({self._shown!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Address) and self._text == other._text

    def __hash__(self) -> int:
        return hash(self._text)

    def _parse(self, text: str, source: str) -> None:
        found = _URL.fullmatch(text)
        try:
            urlsplit(text)  # checks hosts in brackets, too
        except ValueError:
            found = None
        if found is None or _PASSWORD.search(found["path"]) or _HALF.search(f"{found['user']}{found['colon']}"):
            raise _ambiguous(source)
        user, password, query, fragment = (found[part] or "" for part in ("user", "password", "query", "fragment"))
        start, end = f"{found['scheme']}://", found["host"] + found["path"]
        if found["scheme"].lower() in _WEB:
            self._hide(start + end, query, user, password, fragment)
            return
        if not _NAME.fullmatch(found["path"]) or fragment:
            raise _ambiguous(source)
        who = user if _USER.fullmatch(user) else HIDDEN
        who += f":{HIDDEN}" if found["colon"] else ""
        self._hide(start + (f"{who}@" if who else "") + end + f"?{HIDDEN}" * bool(query), query, password)

    def _hide(self, shown: str, query: str, *secrets: str) -> None:
        """Set the text to show, and the secrets to hide in messages, longest first: a secret may contain another."""
        self._shown = shown
        # Names of parameters are secrets, too: with an unescaped & in a password, its second half looks like a name.
        raw = {*secrets, query, *re.split("[&=]", query)} - _PARAMETER_NAMES
        forms = {form for one in raw for form in (one, unquote(one), unquote_plus(one), quote(unquote(one), safe=""))}
        self._secrets = tuple(sorted(filter(None, forms), key=len, reverse=True))


def _require_path(path: str, source: str) -> None:
    """Raise `UserError` for a path that may contain a secret: parameters with a password, or a mistyped address."""
    before, at, _ = path.rpartition("@")
    if _PARAMETERS.search(path) or _PASSWORD.search(path) or (at and ":" in before and not _PATH.match(path)):
        raise _ambiguous(source)


def may_be_secret(name: str) -> bool:
    """Return whether a value with this name may be secret, such as `API_KEY`, `token` or `apikey`."""
    words = [word.lower().removesuffix("s") for word in _WORD.findall(name)]
    return any(word in _SECRETS or word.endswith(_ENDS) for word in words)


def _ambiguous(source: str) -> UserError:
    remedy = (
        "in a user, a password or a value, write %40 for @, %3A for :, %2F for /, %3F for ?, %23 for #, %25 for %; "
        "the path of a file may begin with ./"
    )
    expected = "SCHEME://HOST:PORT/NAME?PARAMETER=VALUE, perhaps with USER:PASSWORD@ before HOST, or a file"
    return UserError("not an address, or one with several meanings", file=source, expected=expected, remedy=remedy)
