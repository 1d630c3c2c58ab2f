"""The board as CSV: a line per row, with all digits except for rounded scores."""

import csv
import io

from harness.board.board import Board

SUFFIX = ".csv"


def render(board: Board) -> str:
    """Return a heading and a line per row; missing values are empty."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    figures = board.figures
    writer.writerow([figure.key for figure in figures])
    writer.writerows([figure.value(row) for figure in figures] for row in board.rows)
    return out.getvalue()
