"""Limits for files of untrusted sites, and for messages about them."""

import sys
from pathlib import Path
from typing import Any

from harness.errors import UserError

#: Maximum number of bytes of a record. The output of a call has up to 16,000 characters, of up to 12 bytes in JSON.
MAX_LINE = 1024**2

#: Maximum number of bytes of all records, which are about three million records of a usual size.
MAX_RECORDS = 2 * 1024**3

#: Maximum number of reported differences, and of characters of a message.
MAX_DIFFERENCES = 1000
MAX_MESSAGE = 500


def require_plain(content: Any, file: Path) -> None:
    """Raise `UserError` if parsed JSON has a number that is no finite float, or text that UTF-8 cannot encode.

    Python's parser accepts `NaN`, `1e999`, integers of thousands of digits, and halves of surrogate pairs.
    """
    waiting = [content]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            waiting += [*value, *value.values()]
        elif isinstance(value, list):
            waiting += value
        elif isinstance(value, int | float) and not abs(value) <= sys.float_info.max:  # also refuses NaN
            raise UserError("a number", file=file, expected="a finite number, at most 1.8e308", found="another one")
        elif isinstance(value, str) and not value.isascii():
            try:
                value.encode()
            except UnicodeEncodeError as error:
                found = ascii(value)[:40]
                raise UserError("a text", file=file, expected="whole characters", found=found) from error
