"""The limits of a site that a stranger may have made: its size, its numbers and text, and messages about it."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from harness.errors import UserError
from harness.text import printable

#: Most bytes of a record; the output in it has at most 16,000 characters, each in up to 12 bytes.
MAX_LINE = 1024**2

#: Most bytes of all records: three million of them, as boards have them.
MAX_RECORDS = 2 * 1024**3

#: Most lines about differences, and characters of each.
MAX_DIFFERENCES = 1000
MAX_MESSAGE = 500


def one_line(text: str) -> str:
    """Return text about a site as one line, which cannot control a terminal, cut to `MAX_MESSAGE` characters."""
    line = printable(text)
    return line if len(line) <= MAX_MESSAGE else f"{line[:MAX_MESSAGE]}..."


@contextmanager
def errors_in_one_line() -> Iterator[None]:
    """Bring the errors about the content of a site into one line each."""
    try:
        yield
    except UserError as error:
        raise UserError(one_line(str(error).replace("\n", "; "))) from error


def require_plain(content: Any, file: Path) -> None:
    """Raise `UserError` for a number in JSON that is not finite as a float, or text that cannot be written.

    Python reads `NaN`, `1e999`, integers of thousands of digits, and halves of surrogate pairs.
    """
    waiting = [content]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            waiting += [*value, *value.values()]
        elif isinstance(value, list):
            waiting += value
        elif isinstance(value, int | float) and not abs(value) <= sys.float_info.max:  # true of NaN, too
            raise UserError("a number", file=file, expected="a finite number, at most 1.8e308", found="another one")
        elif isinstance(value, str) and not value.isascii() and not _is_text(value):
            raise UserError("a text", file=file, expected="whole characters", found=ascii(value)[:40])


def _is_text(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True
