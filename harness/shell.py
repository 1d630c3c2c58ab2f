"""Words as users type them into the shell of their system."""

import re
import shlex
import sys

#: Words that `cmd` and PowerShell take literally.
PLAIN = re.compile(r"[\w.:/\\=+-]+")

#: Words of a stranger that may stand in a command: names and paths, but no options.
_NAMES = re.compile(r"[\w./\\][\w.:/\\=+ -]*")

#: Versions of packages.
_VERSION = re.compile(r"[0-9]+(?:\.[0-9]+){0,3}(?:(?:a|b|rc|\.dev|\.post)[0-9]+)*")


def is_version(text: str) -> bool:
    """Whether a text from a file or a database has the form of a package's version."""
    return len(text) <= 40 and _VERSION.fullmatch(text) is not None


def is_name(word: str) -> bool:
    """Whether a word from a file, a database or a server is harmless in a command for pasting."""
    return _NAMES.fullmatch(word) is not None


def typed(*words: str) -> str:
    """Return words with spaces between them, quoted where necessary."""
    if sys.platform == "win32":
        return " ".join(word if PLAIN.fullmatch(word) else _quoted(word) for word in words)
    return shlex.join(words)


def _quoted(word: str) -> str:
    """Quote a word for Windows, where paths have no quotes, and a backslash would escape the last quote."""
    return '"' + re.sub(r"\\$", r"\\\\", word) + '"'
