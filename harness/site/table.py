"""The table of the first page: rank, name, score, interval and scores on tasks. Readers can show more columns."""

from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import Any

from harness.board import columns
from harness.board.board import Board
from harness.board.column import Column
from harness.board.on_task import OnTask, counted
from harness.board.row import Row
from harness.board.scores import decimal

#: The columns that are always shown; readers can add all others.
IN_A_ROW = (
    columns.RANK, columns.SUBMISSION, columns.KIND, columns.TEAM, columns.SETTINGS, columns.RUNTIME, columns.SCORE,
    columns.RANKS,
)  # fmt: skip

#: Maximum number of tasks with wide cells.
MANY_TASKS = 8

#: Widths in pixels: a task's cell, if there are few or many tasks, and all other cells of a row together.
WIDE_CELL, NARROW_CELL, OTHER_CELLS = 72, 46, 620

#: Text for a missing value; other formats have a hyphen.
DASH = "\N{EN DASH}"

#: Filters of the table: CSS class of the rows that a filter shows -> name of the filter.
FILTERS = {
    "submission": "submissions",
    "baseline": "baselines",
    "beyond": "beyond chance",
    "first-group": "first group",
    "front": "fastest for their score",
}


def table(board: Board, pages: Sequence[str], on_front: Sequence[bool]) -> dict[str, Any]:
    """Return variables for the table's template. `on_front`: whether a row is on the Pareto front of score and time."""
    in_a_row = {column.key for column in IN_A_ROW} | {columns.TASK_SCORE.key_on(task) for task in board.tasks}
    more = [column for column in board.columns if column.key not in in_a_row]
    chances = [task.chance.excess for row in board.rows for task in row.tasks.values() if task.chance is not None]
    most = max(chances, default=0.0)
    looks, cell = _looks(board, on_front), WIDE_CELL if len(board.tasks) <= MANY_TASKS else NARROW_CELL
    return {
        "task_headings": list(board.short_tasks.items()) if len(board.tasks) > 1 else [],
        "more": [_heading(column) for column in more],
        "rows": [
            _row(row, page, most) | {"looks": look, "more": _cells(row, more)}
            for row, page, look in zip(board.rows, pages, looks, strict=True)
        ],
        "yardsticks": _yardsticks(board),
        "filters": {
            name: text for name, text in FILTERS.items() if 0 < sum(name in look for look in looks) < len(looks)
        },
        "groups": len({row.standing.group for row in board.rows if row.standing}) > 1,
        "any_faint": any("faint" in look for look in looks),
        "any_coloured": len(board.tasks) > 1 and most > 0,
        "cell": cell,
        "is_narrow": cell == NARROW_CELL,
        "width": OTHER_CELLS + cell * len(board.tasks),
    }


def _looks(board: Board, on_front: Sequence[bool]) -> list[list[str]]:
    lacking = [row.rank is None or not row.complete for row in board.rows]
    found, before = [], None
    for number, (row, lacks) in enumerate(zip(board.rows, lacking, strict=True)):
        group = row.standing.group if row.standing else None
        looks = {
            "beyond": row.may_be_chance is False,
            "first-group": group == 1,
            "front": on_front[number],
            "odd": group is not None and group % 2 == 1,
            "opens": number > 0 and group != before,
            "faint": row.may_be_chance or (lacks and not all(lacking)),
        }
        found.append([row.kind, *(name for name, holds in looks.items() if holds)])
        before = group
    return found


def _row(row: Row, page: str, most: float) -> dict[str, Any]:
    standing = row.standing
    return {
        "row": row,
        "page": page,
        "anchor": f"row-{PurePosixPath(page).stem}",
        "rank": DASH if row.rank is None else str(row.rank),
        "ranks": "" if standing is None else columns.RANKS.shown(row).replace("-", DASH),
        "marks": [mark for mark in (columns.mark_of(row), row.settings) if mark],
        "score": _shown(decimal(row.score, 1)),
        "lacks": counted(row.failures) if row.score is None else "",
        "tasks": [_on_task(task, most) for task in row.tasks.values() if len(row.tasks) > 1],
    }


def _on_task(task: OnTask, most: float) -> dict[str, Any]:
    chance = task.chance
    share = 0.0 if chance is None or most <= 0 else max(0.0, chance.excess) / most
    text = task.official_text(1) if task.was_called else "-"
    return {"text": _shown(text), "value": task.official, "share": f"{share:.2f}"}


def _heading(column: Column[Row]) -> dict[str, str]:
    is_number = column.kind in ("number", "place")
    first = "descending" if is_number and not column.low_is_best else "ascending"
    return {"text": column.heading, "sort": "number" if is_number else "text", "first": first}


def _cells(row: Row, more: Sequence[Column[Row]]) -> list[dict[str, Any]]:
    return [
        {"text": _shown(column.shown(row)), "value": column.value(row), "is_text": _heading(column)["sort"] == "text"}
        for column in more
    ]


def _shown(text: str) -> str:
    return DASH if text == "-" else text


def _yardsticks(board: Board) -> list[dict[str, Any]]:
    rows = []
    for name, about, yardstick in (
        ("noisy oracle", "oracle", board.yardsticks.oracle),
        ("hyperparameters", "hyperparameters", board.yardsticks.fit),
    ):
        scores = [yardstick.score, *(yardstick.tasks.get(task) for task in board.tasks if len(board.tasks) > 1)]
        score, *tasks = [DASH if one is None else decimal(one.mean, 1) for one in scores]
        mean = None if yardstick.score is None else yardstick.score.mean
        if any(yardstick.tasks.values()):
            rows.append({"name": name, "about": about, "score": score, "tasks": tasks, "mean": mean})
    return rows
