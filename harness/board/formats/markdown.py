"""The board as a Markdown table, with notes below."""

from harness.board.board import Board
from harness.markdown import code, plain

SUFFIX = ".md"


def render(board: Board) -> str:
    """Return the title, the table and the notes. Names in the table are formatted as code."""
    columns = board.columns
    table = [[plain(column.heading) for column in columns], ["---"] * len(columns)]
    for row in board.rows:
        named = zip(columns, board.cells(row), strict=True)
        table.append([code(cell) if column.kind == "name" else plain(cell) for column, cell in named])
    lines = ["| " + " | ".join(line) + " |" for line in table]
    return "\n".join([f"# {board.title}", "", *lines, "", *(f"{plain(note)}  " for note in board.notes), ""])
