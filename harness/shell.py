"""Words of commands, and names of variables, as users type them into their system's shell."""

import re
import shlex

#: Words of unknown origin that are harmless in a command that users paste: names and paths, but no options.
_NAMES = re.compile(r"[\w./\\][\w.:/\\=+ -]*")

#: Versions of packages.
_VERSION = re.compile(r"[0-9]+(?:\.[0-9]+){0,3}(?:(?:a|b|rc|\.dev|\.post)[0-9]+)*")


def is_version(text: str) -> bool:
    """Return whether a text of unknown origin looks like a version of a package."""
    return len(text) <= 40 and _VERSION.fullmatch(text) is not None


def is_name(word: str) -> bool:
    """Return whether a word of unknown origin is harmless in a command that users paste."""
    return _NAMES.fullmatch(word) is not None


def variable_of(option: str) -> str:
    """Return the environment variable of an option of `pgdl`, such as `PGDL_TIME_LIMIT` for `--time-limit`."""
    return "PGDL_" + option.removeprefix("--").upper().replace("-", "_")


def typed(*words: str) -> str:
    """Join words to a command as users type it into their shell; words are quoted if necessary."""
    return shlex.join(words)
