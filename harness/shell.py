"""Words as users type them into the shell of their system."""

import re
import shlex
import sys

#: Words that neither `cmd` nor PowerShell takes for anything else.
PLAIN = re.compile(r"[\w.:/\\=+-]+")


def typed(*words: str) -> str:
    """Return words with spaces between them, in quotes where they need some."""
    if sys.platform == "win32":
        return " ".join(word if PLAIN.fullmatch(word) else _quoted(word) for word in words)
    return shlex.join(words)


def _quoted(word: str) -> str:
    """Quote a word for Windows, where no path has a quote, and a backslash before the last quote would be its own."""
    return '"' + re.sub(r"\\$", r"\\\\", word) + '"'
