"""Names of submissions as readers see them."""

import re
from collections.abc import Sequence

#: The source of the library's measures, in place of a path.
LIBRARY = "library"

#: Stands for all measures of the library.
ALL = "all"

#: Stands for the measures of the library that read weights only, or make a few forward passes.
CHEAP = "cheap"

#: Beginning of the source of a Python function; its qualified name follows.
FUNCTION = "function "

#: Letters that look like a digit or like another letter, in lower case.
LOOK_ALIKE = str.maketrans("oil", "011")


def alike(name: str) -> str:
    """Return a key of a name: names with the same key could be mistaken for each other.

    Case and punctuation do not count, except between digits (1.1 is not 11); a letter counts as the digit that it
    resembles.
    """
    seen = re.sub(r"(?<=\d)[^a-z0-9]+(?=\d)", "_", name.lower())
    return re.sub(r"[^a-z0-9_]+|(?<!\d)_+|_+(?!\d)", "", seen).translate(LOOK_ALIKE)


def as_names(names: str | Sequence[str]) -> Sequence[str]:
    """Return a list of names unchanged, and a single name as a list: callers in Python may pass either."""
    return [names] if isinstance(names, str) else names
