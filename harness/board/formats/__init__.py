"""The file formats of a board. The name of a module is the name of its format in `--format`.

A module defines the names in `Format`, and `BINARY = True` if the format is not text.
"""

import importlib
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from harness.errors import writing
from harness.registry import sibling_names

if TYPE_CHECKING:
    from harness.board.board import Board


class Format(Protocol):
    """The interface of the modules in this package."""

    SUFFIX: str | None  #: suffix of files; None for a format that is only printed

    def render(self, board: "Board", /) -> str | bytes:
        """Return the board in this format; text ends with a newline."""


def names() -> list[str]:
    """Return the names of all formats in alphabetical order, without an import of their modules."""
    return sibling_names(__path__)


def find(name: str) -> Format:
    """Import the module of a format; `name` is one of `names()`."""
    found: Format = importlib.import_module(f"{__name__}.{name}")
    return found


def write(board: "Board", stem: Path) -> list[Path]:
    """Write the board in each format that has a suffix; return the paths of the files.

    A file's path is `stem` with the suffix. Others may read the files, so they have the content of `board.published`.
    """
    paths, published = [], board.published
    for form in map(find, names()):
        if form.SUFFIX is None:
            continue
        content = form.render(published)
        path = stem.with_name(f"{stem.name}{form.SUFFIX}")
        with writing(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode() if isinstance(content, str) else content)
        paths.append(path)
    return paths
