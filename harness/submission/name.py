"""Names of submissions: which characters they may have, and which names are not to be had."""

import re

import baselines

#: Characters of a name, and of a baseline's with its parameters.
MAX_NAME = 80

#: Row of a board that is computed from the gaps themselves: about the best that any measure can do.
ORACLE = "noisy_oracle"

ALLOWED = f"at most {MAX_NAME} ASCII letters, digits, spaces and . _ + -, the first a letter, a digit or _"

_NAME = re.compile(rf"[A-Za-z0-9_](?:[A-Za-z0-9_.+ -]{{0,{MAX_NAME - 2}}}[A-Za-z0-9_.+-])?")
_SPECIFICATION = re.compile(rf"[A-Za-z0-9_.+:=,-]{{1,{MAX_NAME}}}")


def is_name(text: str) -> bool:
    """Whether a submission may be called so."""
    return _NAME.fullmatch(text) is not None


def clean(text: str) -> str:
    """Return the text as a name: every other character becomes `_`.

    Then it looks like no other by letters of another alphabet, starts no formula, and steers no terminal.
    """
    name = re.sub(r"[^A-Za-z0-9_.+ -]", "_", text.strip())[:MAX_NAME].rstrip()
    return re.sub(r"^[^A-Za-z0-9_]", "_", name) or "unnamed"


def is_specification(text: str) -> bool:
    """Whether a baseline with its parameters may be written so; the whole is its name."""
    return _SPECIFICATION.fullmatch(text) is not None


def taken(name: str) -> str | None:
    """Say whose a name is that no submission may have; None for any other.

    Case and punctuation make no difference: `VC-dim` would pass for `vc_dim`.
    """
    alike = _letters(name)
    if alike == _letters(ORACLE):
        return f"{ORACLE} is the board's own row"
    measure = next((measure for measure in baselines.MEASURES if _letters(measure) == alike), None)
    return None if measure is None else f"{measure} is a measure of the library"


def _letters(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")
