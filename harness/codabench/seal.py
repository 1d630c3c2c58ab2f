"""Seals: a result is what the ingestion program wrote, or it is recognised as something else.

The platform may run a submission's own command beside the ingestion program, in a container that can write to the same
output. The key is in the two programs, which such a container does not see, and with the organiser.
"""

import hashlib
import hmac
import json
import os
import re
import secrets
from pathlib import Path
from typing import Any

from harness.errors import UserError, writing
from harness.parsing import parse_json
from harness.reading import read_regular

#: Name of the entry that seals the others.
SEAL = "seal"

#: Most bytes of a sealed file.
MAX_BYTES = 1024**2

_KEY = re.compile(rb"[0-9a-f]{64}")


def draw_key() -> bytes:
    """Return a key that nobody has."""
    return secrets.token_hex(32).encode()


def write_key(file: Path, key: bytes) -> None:
    """Write a key that only the user may read; raises `UserError`, also if there is such a file."""
    with writing(file):
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(key + b"\n")


def read_key(file: Path) -> bytes:
    """Return the key in a file; raises `UserError`."""
    key = read_regular(file, MAX_BYTES, links=True).strip()
    if not _KEY.fullmatch(key):
        raise UserError(
            "not a key", file=file, expected="64 hexadecimal digits, as `pgdl codabench bundle` writes them"
        )
    return key


def competition_of(key: bytes) -> str:
    """Return what tells competitions apart, which reveals nothing of the key."""
    return hashlib.sha256(b"competition " + key).hexdigest()[:16]


def sealed(content: dict[str, Any], key: bytes) -> bytes:
    """Return JSON that contains a seal over all of its entries."""
    return json.dumps(content | {SEAL: _seal(content, key)}, indent=1).encode() + b"\n"


def opened(text: bytes, key: bytes, file: Path | str) -> dict[str, Any]:
    """Return the content of sealed JSON; raises `UserError` if it was not sealed so with this key."""
    try:
        content = parse_json(text)
        seal = str(content.pop(SEAL))
        same = hmac.compare_digest(seal, _seal(content, key))
        competition = content.get("competition")
    except (ValueError, LookupError, AttributeError, TypeError) as error:
        raise UserError(
            "not a sealed result", file=file, expected="the file that the ingestion program wrote"
        ) from error
    if competition != competition_of(key):
        raise UserError("a result of another competition, or of a bundle with another key", file=file)
    if not same:
        raise UserError("changed after the ingestion program wrote it", file=file, found="a seal that does not fit")
    return dict(content)


def _seal(content: dict[str, Any], key: bytes) -> str:
    text = json.dumps(content, sort_keys=True, separators=(",", ":")).encode()
    return hmac.new(key, text, hashlib.sha256).hexdigest()
