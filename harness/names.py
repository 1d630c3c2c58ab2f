"""Names of submissions as readers see them."""

import re
from collections.abc import Sequence

#: The source of the library's measures, where others have a path.
LIBRARY = "library"

#: In place of names: every measure of the library.
ALL = "all"

#: In place of names: the measures of the library that read weights only, or make a few forward passes.
CHEAP = "cheap"

#: How the source of a Python function begins; its qualified name follows.
FUNCTION = "function "

#: Letters that look like a digit or like another letter, in lower case.
LOOK_ALIKE = str.maketrans("oil", "011")


def alike(name: str) -> str:
    """Return what a reader sees of a name: names for which it is the same could be mistaken for each other.

    Case counts as little as punctuation, except between digits (1.1 is not 11), and letters count as the digits that
    look like them.
    """
    seen = re.sub(r"(?<=\d)[^a-z0-9]+(?=\d)", "_", name.lower())
    return re.sub(r"[^a-z0-9_]+|(?<!\d)_+|_+(?!\d)", "", seen).translate(LOOK_ALIKE)


def as_names(names: str | Sequence[str]) -> Sequence[str]:
    """Return a list of names as it is, and a single name as a list: from Python, both are given."""
    return [names] if isinstance(names, str) else names
