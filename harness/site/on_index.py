"""The first page of a site: the verdict, the table, and the sections below the table."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from markupsafe import Markup, escape

from harness.board.board import Board
from harness.board.insight import is_on_front
from harness.board.verdict import verdict
from harness.histogram import bar_range
from harness.site import charts
from harness.site.axis import board_axis
from harness.site.critical_difference import critical_difference
from harness.site.data import SiteData
from harness.site.table import table
from harness.text import printable_lines

#: A command in the notes of a board, and the link that replaces it on pages.
EXPLAINED, PAGE = "pgdl help statistics", Markup('<a href="reading.html">How to read this board</a>')

#: Number of bars in the histogram of a task's gaps.
N_BARS = 16


def index_page(data: SiteData, board: Board, pages: Sequence[str]) -> dict[str, Any]:
    """Return the variables for the template of the first page. `pages` has the path of each row's page."""
    on_front = is_on_front(board.rows)
    explained = [note for note in board.notes if note not in board.remarks]
    dates = [f"{facts.requested_at:%Y-%m-%d}" for facts in data.settings.submissions if facts.requested_at]
    return {
        "title": data.settings.title,
        "verdict": verdict(board, pages),
        "counts": _counts(data, board),
        "byline": " · ".join(filter(None, [data.settings.organiser, f"newest request {max(dates)}" if dates else ""])),
        "axis": board_axis(board),
        "table": table(board, pages, on_front),
        "remarks": [_note(line) for line in board.remarks],
        "small_print": [_note(line) for line in explained],
        "across_tasks": critical_difference(board),
        "time": charts.score_against_time(board.rows, on_front, pages),
        "front": [(row.label, page) for row, page, on in zip(board.rows, pages, on_front, strict=True) if on],
        "gaps": {name: _histogram(list(found.gaps.values())) for name, found in data.references.items()},
    }


def _note(line: str) -> Markup:
    return escape(printable_lines(line)).replace(EXPLAINED, PAGE)


def _counts(data: SiteData, board: Board) -> list[tuple[int, str]]:
    kinds = [row.kind for row in board.rows]
    counts = {
        "task": len(board.tasks), "network": sum(facts.n_models for facts in data.settings.tasks.values()),
        "submission": kinds.count("submission"), "baseline": kinds.count("baseline"),
    }  # fmt: skip
    return [(number, noun if number == 1 else f"{noun}s") for noun, number in counts.items()]


def _histogram(gaps: Sequence[float]) -> list[float]:
    found = np.histogram(gaps, N_BARS, bar_range(gaps))[0]
    return [round(float(number), 3) for number in found / found.max()]
