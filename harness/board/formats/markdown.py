"""The board as a Markdown table with its notes below."""

import re

from harness.board.board import Board

SUFFIX = ".md"

#: Markup characters; underscores, except those inside a word; the parts that turn an address into a link.
MARKUP = r"[\\`*{}\[\]<>#|~]|(?<![A-Za-z0-9])_+|_+(?![A-Za-z0-9])|:(?=//)|(?<=www)\."


def render(board: Board) -> str:
    """Return the table; names are set as code, which suppresses markup, links and formulas."""
    columns = board.columns
    table = [[_plain(column.heading) for column in columns], ["---"] * len(columns)]
    for row in board.rows:
        named = zip(columns, board.cells(row), strict=True)
        table.append([f"`{cell}`" if column.kind == "name" else _plain(cell) for column, cell in named])
    lines = ["| " + " | ".join(line) + " |" for line in table]
    return "\n".join([f"# {board.layout.title}", "", *lines, "", *(f"{_plain(note)}  " for note in board.notes), ""])


def _plain(text: str) -> str:
    """Escape everything that Markdown would interpret as markup, a link or HTML; line breaks become spaces."""
    text = " ".join(text.splitlines())
    return re.sub(MARKUP, lambda found: "".join(f"\\{character}" for character in found[0]), text)
