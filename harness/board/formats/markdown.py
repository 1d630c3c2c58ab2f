"""The board as a Markdown table with its notes below."""

import re

from harness.board.board import Board

SUFFIX = ".md"

#: Characters of markup; underscores but those inside a word; what makes an address a link.
MARKUP = r"[\\`*{}\[\]<>#|~]|(?<![A-Za-z0-9])_+|_+(?![A-Za-z0-9])|:(?=//)|(?<=www)\."


def render(board: Board) -> str:
    """Return the table; names stand as code, in which nothing is bold, a link or a formula."""
    columns = board.columns
    table = [[_plain(column.name) for column in columns], ["---"] * len(columns)]
    for row in board.rows:
        named = zip(columns, board.cells(row), strict=True)
        table.append([f"`{cell}`" if column.kind == "name" else _plain(cell) for column, cell in named])
    lines = ["| " + " | ".join(line) + " |" for line in table]
    return "\n".join([f"# {board.title}", "", *lines, "", *(f"{_plain(note)}  " for note in board.notes), ""])


def _plain(text: str) -> str:
    """The text with everything escaped that Markdown would take for markup, a link or HTML."""
    return re.sub(MARKUP, lambda found: "".join(f"\\{character}" for character in found[0]), text)
