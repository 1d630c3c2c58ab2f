"""Names of submissions: reserved names, and a key that is equal for names that look alike."""

import re
from collections.abc import Sequence

#: Source of a submission that is a measure of the library. Other sources are paths or functions.
LIBRARY = "library"

#: Name for all measures of the library together.
ALL = "all"

#: Name for those measures of the library that only read weights, or need few forward passes.
CHEAP = "cheap"

#: Beginning of the source of a submission that is a Python function; its qualified name follows.
FUNCTION = "function "

#: Lower-case letters that look like a digit, or like another letter -> digit.
LOOK_ALIKE = str.maketrans("oil", "011")


def alike(name: str) -> str:
    """Return a key that is equal for names that readers could take for each other.

    The key ignores case, and all punctuation that is not between digits: 1.1 is not 11. Letters that look like a digit
    become this digit.
    """
    seen = re.sub(r"(?<=\d)[^a-z0-9]+(?=\d)", "_", name.lower())
    return re.sub(r"[^a-z0-9_]+|(?<!\d)_+|_+(?!\d)", "", seen).translate(LOOK_ALIKE)


def as_names(names: str | Sequence[str]) -> Sequence[str]:
    """Return a list for a single name, and any other sequence unchanged."""
    return [names] if isinstance(names, str) else names
