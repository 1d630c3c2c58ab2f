"""Words for the user's shell: quoted words, checks of untrusted words, and names of environment variables."""

import re
import shlex
import sys

#: Words that need no quotes in `cmd` and PowerShell.
PLAIN = re.compile(r"[\w.:/\\=+-]+")

#: Untrusted words that a command may contain: names and paths, but no options.
_NAMES = re.compile(r"[\w./\\][\w.:/\\=+ -]*")

#: Versions of packages.
_VERSION = re.compile(r"[0-9]+(?:\.[0-9]+){0,3}(?:(?:a|b|rc|\.dev|\.post)[0-9]+)*")


def is_version(text: str) -> bool:
    """Whether an untrusted text has the form of a package's version."""
    return len(text) <= 40 and _VERSION.fullmatch(text) is not None


def is_name(word: str) -> bool:
    """Whether an untrusted word is harmless in a command that the user pastes into a shell."""
    return _NAMES.fullmatch(word) is not None


def typed(*words: str) -> str:
    """Return the words of a command as the user types it: quoted where necessary, with spaces between them."""
    if sys.platform == "win32":
        return " ".join(word if PLAIN.fullmatch(word) else _quoted(word) for word in words)
    return shlex.join(words)


def _quoted(word: str) -> str:
    """Return a word in quotes for Windows, where paths contain no quotes, and a last backslash would escape a quote."""
    return '"' + re.sub(r"\\$", r"\\\\", word) + '"'


def variable_of(option: str) -> str:
    """Return the name of the environment variable of an option: `PGDL_TIME_LIMIT` for `--time-limit`."""
    return "PGDL_" + option.removeprefix("--").upper().replace("-", "_")
