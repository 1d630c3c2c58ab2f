"""The board as CSV: a line for each row; scores have all digits, except on hidden tasks."""

import csv
import io

from harness.board.board import Board
from harness.text import not_a_formula

SUFFIX = ".csv"


def render(board: Board) -> str:
    """Return a line of column keys, and a line for each row; missing values are empty."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    figures = board.figures
    writer.writerow([figure.key for figure in figures])
    for row in board.rows:
        values = [figure.value(row) for figure in figures]
        writer.writerow([not_a_formula(value) if isinstance(value, str) else value for value in values])
    return out.getvalue()
