"""Names of submissions: allowed characters, and reserved names."""

import functools
import re
import unicodedata

from harness.errors import UserError
from harness.names import alike

#: Maximum length of a name, and of a baseline's name with its parameters.
MAX_NAME = 80

#: Names of a board's reference rows, which are computed from the generalization gaps themselves.
REFERENCES = ("noisy_oracle", "hyperparameters")

ALLOWED = f"at most {MAX_NAME} ASCII letters, digits, spaces and . _ + -, the first a letter, a digit or _"

#: Remedy for a name that belongs to another submission.
RENAME = "rename it, or name it with --as NAME"

_NAME = re.compile(rf"[A-Za-z0-9_](?:[A-Za-z0-9_.+ -]{{0,{MAX_NAME - 2}}}[A-Za-z0-9_.+-])?")


def is_name(text: str) -> bool:
    """Whether a text is a valid name of a submission."""
    return _NAME.fullmatch(text) is not None


def require_name(text: str) -> None:
    """Raise `UserError` unless a text is a valid name of a submission."""
    if not is_name(text):
        raise UserError("cannot be a name", file=repr(text), expected=ALLOWED)


def clean(text: str) -> str:
    """Return the text as a valid name: accents are dropped, and other characters that are not allowed become `_`.

    The name then has no letters of other alphabets that look like Latin letters, and no control sequences for a
    terminal. It is no formula in a spreadsheet.
    """
    plain = "".join(one for one in unicodedata.normalize("NFKD", text) if not unicodedata.combining(one))
    name = re.sub(r"[^A-Za-z0-9_.+ -]", "_", plain.strip())[:MAX_NAME].rstrip()
    return re.sub(r"^[^A-Za-z0-9_]", "_", name) or "unnamed"


def taken(name: str) -> str | None:
    """Return why a name is reserved, as a clause for messages; None for a free name.

    A name is reserved if it resembles the name of a measure or of a reference row, as `VC-dim` resembles `vc_dim`.
    """
    for reference in REFERENCES:
        if alike(name) == alike(reference):
            return f"{reference} is a reference beside the board"
    measure = _measures().get(alike(name))
    return None if measure is None else f"{measure} is a measure of the library"


@functools.cache
def _measures() -> dict[str, str]:
    import baselines  # here, because it imports all measures

    return {alike(name): name for name in baselines.MEASURES}
