"""What the first page shows: who leads, and the columns of the board, with a picture of each interval."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from markupsafe import Markup, escape

from harness.board import columns
from harness.board.board import Board
from harness.board.column import Column
from harness.board.rankings import INTERVAL
from harness.board.row import Row
from harness.board.yardstick import Yardstick
from harness.site import charts
from harness.site.critical_difference import critical_difference
from harness.site.data import SiteData
from harness.site.insight import is_on_front
from harness.site.verdict import verdict
from harness.text import printable_lines

#: On a board of text only baselines have a mark; on a page every row has.
KIND = replace(columns.KIND, title="kind", text=lambda row: columns.mark_of(row) or "submission")

#: The interval as a picture.
DRAWN = Column[Row]("drawn", lambda row: row.standing)

#: Of a value that is missing; boards of text have a hyphen.
DASH = "\N{EN DASH}"

#: The file that notes refer to, and what a site has in its place.
EXPLAINED, PAGE = "pgdl help statistics", Markup('<a href="reading.html">How to read this board</a>')

#: Filters of the table, by the class of the rows that they show.
FILTERS = {
    "submission": "submissions",
    "baseline": "baselines",
    "first-group": "first group",
    "front": "fastest for their score",
}

Cell = dict[str, Any]


def index_page(data: SiteData, board: Board, pages: Sequence[str]) -> dict[str, Any]:
    """Return the content of the first page; `pages` has the path of each row's page."""
    on_front = is_on_front(board.rows)
    classes = [_classes(row, front) for row, front in zip(board.rows, on_front, strict=True)]
    top = max((row.standing.high for row in board.rows if row.standing), default=0.0) or 1.0
    table = _table(board, top)
    rows = zip(board.rows, pages, classes, _looks(board), table["rows"], strict=True)
    return {
        "title": data.settings.title,
        "byline": _byline(data),
        "verdict": verdict(board, pages),
        "summary": _summary(board),
        "filters": _filters(classes),
        "headings": table["headings"],
        "rows": [
            {"page": page, "classes": [*kinds, *looks], "about": row.about, "cells": cells}
            for row, page, kinds, looks, cells in rows
        ],
        "yardsticks": table["yardsticks"],
        "groups": len({_group(row) for row in board.rows} - {None}) > 1,
        "top": top,
        "notes": [escape(printable_lines(note)).replace(EXPLAINED, PAGE) for note in board.notes],
        "across_tasks": critical_difference(board),
        "time": charts.score_against_time(board.rows, on_front, pages),
        "front": [(row.label, page) for row, page, on in zip(board.rows, pages, on_front, strict=True) if on],
    }


def _byline(data: SiteData) -> str:
    date = data.newest_request
    parts = [data.settings.organiser, f"newest request {date:%Y-%m-%d}" if date else ""]
    return " · ".join(filter(None, parts))


def _summary(board: Board) -> str:
    kinds = [row.kind for row in board.rows]
    n_submissions, n_baselines = kinds.count("submission"), kinds.count("baseline")
    handed_in = f"{_count(n_submissions, 'submission')} and {_count(n_baselines, 'baseline')}"
    return f"{handed_in} on {_count(len(board.tasks), 'task')}."


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _classes(row: Row, on_front: bool) -> list[str]:
    """Return what a row is, of `FILTERS`."""
    first = row.standing is not None and row.standing.group == 1
    return [row.kind, *["first-group"] * first, *["front"] * on_front]


def _filters(classes: Sequence[Sequence[str]]) -> dict[str, str]:
    """Return the filters that show some rows, but not all."""
    counts = {name: sum(name in one for one in classes) for name in FILTERS}
    return {name: text for name, text in FILTERS.items() if 0 < counts[name] < len(classes)}


def _looks(board: Board) -> list[list[str]]:
    """Return the looks of each row: neighbouring groups differ, and rows without a rank are faint among ranked ones."""
    any_ranked = any(row.rank is not None for row in board.rows)
    groups = [_group(row) for row in board.rows]
    looks = []
    for number, (row, group) in enumerate(zip(board.rows, groups, strict=True)):
        opens = number > 0 and group != groups[number - 1]
        band = [] if group is None else ["odd" if group % 2 else "even"]
        looks.append([*band, *["opens"] * opens, *["faint"] * (any_ranked and row.rank is None)])
    return looks


def _group(row: Row) -> int | None:
    return None if row.standing is None else row.standing.group


def _table(board: Board, top: float) -> dict[str, Any]:
    """Return the cells of the head, of each row, and of each yardstick below them.

    A cell has a text, a class, and the order in which its column is sorted (text, number, or none); those of rows also
    the value that they are sorted by. Pictures reach from 0 to `top` points.
    """
    shown: list[Column[Row]] = []  # the team stands below the name
    drawn = replace(DRAWN, title=f"0 to {top:.0f}")
    for column in board.columns:
        shown += {columns.KIND: [KIND], columns.TEAM: [], INTERVAL: [INTERVAL, drawn]}.get(column, [column])
    return {
        "headings": [_cell(c) | {"text": c.heading, "is_sorted": c == columns.RANK} for c in shown],
        "rows": [[_of_row(column, row) for column in shown] for row in board.rows],
        "yardsticks": [
            {"about": about, "cells": [_cell(column) | {"text": _of_yardstick(column, name, one)} for column in shown]}
            for name, (about, one) in _yardsticks(board).items()
            if any(one.tasks.values())
        ],
    }


def _is_drawn(column: Column[Row]) -> bool:
    return column.key == DRAWN.key


def _cell(column: Column[Row]) -> Cell:
    css = "number" if column.kind == "number" and not _is_drawn(column) else ""
    if column in (KIND, columns.SETTINGS):
        css = "kind"  # hidden on a phone
    order = "" if _is_drawn(column) else "number" if column.kind in ("number", "place") else "text"
    return {"css": css, "sort": order, "is_name": column.kind == "name"}


def _of_row(column: Column[Row], row: Row) -> Cell:
    value = column.value(row)
    if _is_drawn(column):
        return _cell(column) | {"standing": value, "chance": row.chance_level}
    text = column.shown(row)
    return _cell(column) | {"text": DASH if text == "-" else text, "value": "" if value is None else value}


def _yardsticks(board: Board) -> dict[str, tuple[str, Yardstick]]:
    """Return the yardsticks by their names, with the place on the page of explanations that is about them."""
    told = board.hyperparameters
    return {
        "noisy oracle": ("oracle", board.oracle),
        "hyperparameters": ("hyperparameters", told.in_sample),
        "hyperparameters, other tasks": ("hyperparameters", told.from_other_tasks),
    }


def _of_yardstick(column: Column[Row], name: str, yardstick: Yardstick) -> str:
    """Return the text of a yardstick, empty where it has none."""
    names = {columns.SUBMISSION.key: name, KIND.key: "reference"}
    scores = {columns.TASK_SCORE.key_on(task): score for task, score in yardstick.tasks.items()}
    scores[columns.SCORE.key] = yardstick.score
    if column.key not in scores:
        return names.get(column.key, "")
    score = scores[column.key]
    return DASH if score is None else score.text()
