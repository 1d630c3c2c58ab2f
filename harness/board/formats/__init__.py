"""The forms in which a board is printed and written: each file here is one.

A file's name is what `--format` calls the format. It has

* `render(board)`, which returns text or bytes, the end of the last line included,
* `SUFFIX`, that of its files; None for a format that is only printed,
* `BINARY = True` if it is not text, and so not for a terminal.
"""

import importlib
import pkgutil
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from harness.board.board import Board


class Format(Protocol):
    """What a file in this package has."""

    SUFFIX: str | None

    def render(self, board: "Board", /) -> str | bytes:
        """Return the board in this format."""


def names() -> list[str]:
    """Return the names of all formats, in alphabetical order; none is imported."""
    return sorted(module.name for module in pkgutil.iter_modules(__path__))


def find(name: str) -> Format:
    """Return the format of a name that is one of `names()`."""
    found: Format = importlib.import_module(f"{__name__}.{name}")
    return found


def is_binary(name: str) -> bool:
    """Whether a format is not text."""
    return getattr(find(name), "BINARY", False)


def written() -> list[Format]:
    """Return the formats that files are written in, in the order of their names."""
    return [form for form in map(find, names()) if form.SUFFIX is not None]
