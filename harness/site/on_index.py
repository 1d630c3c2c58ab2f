"""What the table of the first page shows: the columns of the board, with a picture of each interval."""

from dataclasses import replace
from typing import Any

from harness.board import columns
from harness.board.board import Board
from harness.board.column import Column
from harness.board.row import Row
from harness.board.standings import INTERVAL

#: On a board of text only baselines have a mark; on a page every row has.
KIND = replace(columns.KIND, title="kind", text=lambda row: columns.mark_of(row) or "submission")

#: The interval as a picture.
DRAWN = Column[Row]("drawn", lambda row: row.standing)

#: Of a value that is missing; boards of text have a hyphen.
DASH = "\N{EN DASH}"

Cell = dict[str, Any]


def board_table(board: Board) -> dict[str, Any]:
    """Return the cells of the head, of each row, and of the noisy oracle below them.

    A cell has a text, a class, and the order in which its column is sorted (text, number, or none); those of rows also
    the value that they are sorted by.
    """
    shown: list[Column[Row]] = []
    for column in board.columns:
        shown += {columns.KIND: [KIND], INTERVAL: [INTERVAL, DRAWN]}.get(column, [column])
    return {
        "headings": [_cell(column) | {"text": column.heading} for column in shown],
        "rows": [[_of_row(column, row) for column in shown] for row in board.rows],
        "oracle": [_cell(column) | {"text": _of_oracle(column, board)} for column in shown],
    }


def _cell(column: Column[Row]) -> Cell:
    css = "kind" if column is KIND else "number" if column.kind == "number" and column is not DRAWN else ""
    order = "" if column is DRAWN else "number" if column.kind in ("number", "place") else "text"
    return {"css": css, "sort": order, "is_name": column.kind == "name"}


def _of_row(column: Column[Row], row: Row) -> Cell:
    value = column.value(row)
    if column is DRAWN:
        return _cell(column) | {"standing": value}
    text = column.shown(row)
    return _cell(column) | {"text": DASH if text == "-" else text, "value": "" if value is None else value}


def _of_oracle(column: Column[Row], board: Board) -> str:
    """Return the text of the noisy oracle, empty where it has none."""
    names = {columns.SUBMISSION.key: "noisy oracle", KIND.key: "reference"}
    scores = {columns.TASK_SCORE.key_on(name): score for name, score in board.oracle.tasks.items()}
    scores[columns.SCORE.key] = board.oracle.score
    if column.key not in scores:
        return names.get(column.key, "")
    score = scores[column.key]
    return DASH if score is None else score.text()
