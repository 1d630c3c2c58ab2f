"""The formats of a board: one module each, with the name of the format in `--format`.

A module has

* `render(board)`, which returns text or bytes, including the last newline,
* `SUFFIX`, the suffix of its files; None for a format that is only printed,
* `BINARY = True` if the format is not text, and so not for a terminal.
"""

import importlib
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from harness.errors import writing
from harness.registry import sibling_names

if TYPE_CHECKING:
    from harness.board.board import Board


class Format(Protocol):
    """Interface of the modules in this package."""

    SUFFIX: str | None

    def render(self, board: "Board", /) -> str | bytes:
        """Return the board in this format."""


def names() -> list[str]:
    """Return the names of all formats, in alphabetical order, without importing them."""
    return sibling_names(__path__)


def find(name: str) -> Format:
    """Return a format by its name, one of `names()`."""
    found: Format = importlib.import_module(f"{__name__}.{name}")
    return found


def is_binary(name: str) -> bool:
    """Whether a format is not text."""
    return getattr(find(name), "BINARY", False)


def written() -> list[Format]:
    """Return the formats with files, in alphabetical order."""
    return [form for form in map(find, names()) if form.SUFFIX is not None]


def write(board: "Board", stem: Path) -> list[Path]:
    """Write the board in every file format, each to `stem` plus a suffix; raises `UserError`."""
    paths = []
    for form in written():
        content = form.render(board)
        path = stem.with_name(f"{stem.name}{form.SUFFIX}")
        with writing(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode() if isinstance(content, str) else content)
        paths.append(path)
    return paths
