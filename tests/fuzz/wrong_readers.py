"""Faulty readers, which the tests put in place of the real readers."""

import os
import threading
from pathlib import Path

from harness.errors import UserError
from tests.fuzz.bounded import MEMORY, Reader, main


def _nothing(_directory: Path) -> None:
    """Accept any directory."""


def _raises(_directory: Path) -> None:
    raise ZeroDivisionError


def _says_nothing(_directory: Path) -> None:
    raise UserError("")


READERS = {
    "right": Reader(_nothing, _nothing),
    "raises": Reader(_nothing, _raises),
    "takes memory": Reader(_nothing, lambda _: bytearray(2 * MEMORY)),
    "says nothing": Reader(_nothing, _says_nothing),
    "ends": Reader(_nothing, lambda _: os._exit(3)),
    "hangs": Reader(_nothing, lambda _: threading.Event().wait()),
}

if __name__ == "__main__":
    main(READERS)
