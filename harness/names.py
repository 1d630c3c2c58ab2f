"""Names of submissions: reserved names, and a key that is equal for names that look alike."""

import re
from collections.abc import Sequence

#: Source of a submission that is a measure of the library; other sources are paths or functions.
LIBRARY = "library"

#: Name that stands for all measures of the library.
ALL = "all"

#: Name that stands for the measures of the library that read only weights, or make a few forward passes.
CHEAP = "cheap"

#: Beginning of the source of a submission that is a Python function; the function's qualified name follows.
FUNCTION = "function "

#: Lower-case letters that look like a digit, or like each other -> the digit.
LOOK_ALIKE = str.maketrans("oil", "011")


def alike(name: str) -> str:
    """Return a key that is equal for names that readers could mistake for each other.

    The key ignores case. It ignores punctuation, except between digits: 1.1 is not 11. A letter that resembles a digit
    becomes the digit.
    """
    seen = re.sub(r"(?<=\d)[^a-z0-9]+(?=\d)", "_", name.lower())
    return re.sub(r"[^a-z0-9_]+|(?<!\d)_+|_+(?!\d)", "", seen).translate(LOOK_ALIKE)


def as_names(names: str | Sequence[str]) -> Sequence[str]:
    """Return a sequence of names unchanged, and a single name as a list."""
    return [names] if isinstance(names, str) else names
