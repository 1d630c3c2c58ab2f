"""Words of commands and names of variables, as users type them into the shell of their system."""

import re
import shlex
import sys

#: Words in which `cmd` and PowerShell interpret no character.
PLAIN = re.compile(r"[\w.:/\\=+-]+")

#: Words of unknown origin that a command for pasting may contain: names and paths, but no options.
_NAMES = re.compile(r"[\w./\\][\w.:/\\=+ -]*")

#: Versions of packages.
_VERSION = re.compile(r"[0-9]+(?:\.[0-9]+){0,3}(?:(?:a|b|rc|\.dev|\.post)[0-9]+)*")


def is_version(text: str) -> bool:
    """Return whether a text of unknown origin has the form of a package's version."""
    return len(text) <= 40 and _VERSION.fullmatch(text) is not None


def is_name(word: str) -> bool:
    """Return whether a word of unknown origin is harmless in a command for pasting."""
    return _NAMES.fullmatch(word) is not None


def variable_of(option: str) -> str:
    """Return the environment variable of an option of `pgdl`: `PGDL_TIME_LIMIT` of `--time-limit`."""
    return "PGDL_" + option.removeprefix("--").upper().replace("-", "_")


def typed(*words: str) -> str:
    """Return the words of a command as users type them into their shell: with spaces between, quoted if necessary."""
    if sys.platform == "win32":  # where paths contain no quotes, and a final backslash would escape the quote
        return " ".join(word if PLAIN.fullmatch(word) else '"' + re.sub(r"\\$", r"\\\\", word) + '"' for word in words)
    return shlex.join(words)
