"""Locations of databases without their secrets: a password must never be printed, written or published."""

import re
from urllib.parse import unquote

#: The location of the records, if none is given.
RESULTS = "results.db"

#: Replaces a secret.
HIDDEN = "***"

_USER = re.compile(r"[\w.+%-]*")


def without_secrets(location: str) -> str:
    """Return a location for readers: no password, and no value of a parameter, which may be one, too.

    Any text is a location here: also of what is no valid URL nothing is shown that could be a secret.
    """
    scheme, separator, rest = location.partition("://")
    if not separator:
        return location
    who, at, where = rest.rpartition("@")  # a password may contain what ends it elsewhere
    user, colon, _ = who.partition(":")
    shown = (user if _USER.fullmatch(user) else HIDDEN) + (f":{HIDDEN}" if colon else "") + at
    base, question, parameters = where.partition("?")
    return f"{scheme}://{shown}{base}{question}{re.sub(r'=[^&]*', f'={HIDDEN}', parameters)}"


def has_secrets(location: str) -> bool:
    """Whether a part of a location is hidden, so that it cannot be pasted."""
    return without_secrets(location) != location


def scrub(text: str, location: str) -> str:
    """Return a text, such as the message of a database's driver, without the secrets of a location."""
    _, _, rest = location.partition("://")
    who, _, where = rest.rpartition("@")
    found = [who.partition(":")[2], *(part.partition("=")[2] for part in where.partition("?")[2].split("&"))]
    for secret in {one for raw in found for one in (raw, unquote(raw)) if one}:
        text = text.replace(secret, HIDDEN)
    return text
