"""Hints for misspelt names: the known name that is most similar."""

import difflib
from collections.abc import Iterable

#: Maximum length of a name in characters; comparing longer names takes too much memory.
LONGEST = 255


def did_you_mean(name: str, known: Iterable[str], *, similarity: float = 0.6) -> str | None:
    """Return a hint with the known name most similar to `name`; None if its similarity (0 to 1) is too small."""
    if len(name) > LONGEST:
        return None
    written = {one.lower(): one for one in known}
    close = difflib.get_close_matches(name.lower(), list(written), n=1, cutoff=similarity)
    return f"did you mean {str(written[close[0]])!r}?" if close else None
