"""Hints for names that are misspelt."""

import difflib
from collections.abc import Iterable


def did_you_mean(name: str, known: Iterable[str]) -> str | None:
    """A hint that names the most similar of the known names, if any is similar; case makes no difference."""
    written = {one.lower(): one for one in known}
    close = difflib.get_close_matches(name.lower(), list(written), n=1)
    return f"did you mean {str(written[close[0]])!r}?" if close else None
