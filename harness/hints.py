"""Hints for misspelt names."""

import difflib
from collections.abc import Iterable


def did_you_mean(name: str, known: Iterable[str]) -> str | None:
    """Return a hint with the most similar known name, or None if none is similar; case is ignored."""
    written = {one.lower(): one for one in known}
    close = difflib.get_close_matches(name.lower(), list(written), n=1)
    return f"did you mean {str(written[close[0]])!r}?" if close else None
