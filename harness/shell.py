"""Words as users type them into the shell of their system."""

import shlex
import sys


def typed(*words: str) -> str:
    """Return words with spaces between them, in quotes where they need some."""
    if sys.platform == "win32":
        import subprocess  # here: slow to import

        return subprocess.list2cmdline(words)
    return shlex.join(words)
