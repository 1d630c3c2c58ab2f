"""Secrets: locations of databases without them, and names of values that may be some.

A password must never be printed, written or published.
"""

import re
from urllib.parse import unquote

#: The location of the records, if none is given.
RESULTS = "results.db"

#: Replaces a secret.
HIDDEN = "***"

#: Words in the names of values that may be secrets; a last s counts as none.
_SECRETS = {"apikey", "credential", "key", "passphrase", "passwd", "password", "pwd", "secret", "token"}

#: The words of a name, in any of Python's styles: API_KEY, api_key, ApiKey, apiKey2.
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")

_USER = re.compile(r"[\w.+%-]*")

#: A parameter before an @: either this is part of its value, or it is part of a password.
_PARAMETER = re.compile(r"\?.*=")


def without_secrets(location: str) -> str:
    """Return a location for readers: no password, and no value of a parameter, which may be one, too.

    Any text is a location here: also of what is no valid URL nothing is shown that could be a secret. So some names of
    files, such as a:b@c, are not shown as they are.
    """
    scheme, separator, rest = location.partition("://")
    if not separator:
        return _of_path(location)
    who, at, where = rest.rpartition("@")  # a password may contain what ends it elsewhere
    user, colon, _ = who.partition(":")
    shown = (user if _USER.fullmatch(user) else HIDDEN) + (f":{HIDDEN}" if colon else "") + at
    if _PARAMETER.search(who):
        return f"{scheme}://{shown}{HIDDEN}"
    base, question, parameters = where.partition("?")
    return f"{scheme}://{shown}{base}{question}{_names(parameters)}"


def _of_path(text: str) -> str:
    """What is shown of a text that may be a mistyped URL: [SCHEME:]USER:PASSWORD@HOST, or FILE?PARAMETER=VALUE."""
    base, question, parameters = text.partition("?")
    if ":" in base and "@" in parameters:  # the password may contain the question mark
        return f"{base.partition(':')[0]}:{HIDDEN}"
    who, at, where = base.rpartition("@")
    if ":" in who:
        base = f"{who.partition(':')[0]}:{HIDDEN}{at}{where}"
    return base + question + _names(parameters)


def _names(parameters: str) -> str:
    """Return parameters without their values; what has no name is a value."""
    pairs = [one.partition("=") for one in parameters.split("&")]
    return "&".join(f"{name}={HIDDEN}" if equals else HIDDEN * bool(name) for name, equals, _ in pairs)


def has_secrets(location: str) -> bool:
    """Whether a part of a location is hidden, so that it cannot be pasted."""
    return without_secrets(location) != location


def scrub(text: str, location: str) -> str:
    """Return a text, such as the message of a database's driver, without the secrets of a location."""
    who, _, _ = location.partition("://")[2].rpartition("@")
    found = [who.partition(":")[2], *re.findall(r"=([^&]*)", location.partition("?")[2])]
    for secret in {one for raw in found for one in (raw, unquote(raw)) if one}:
        text = text.replace(secret, HIDDEN)
    return text


def may_be_secret(name: str) -> bool:
    """Whether the name of a value says that the value may be a secret, such as `API_KEY`, `token` or `apikey`."""
    return any(word.lower().removesuffix("s") in _SECRETS for word in _WORD.findall(name))
