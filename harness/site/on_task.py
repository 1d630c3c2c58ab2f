"""The page of a task: its gaps, and the scores of all rows on it."""

from collections.abc import Sequence
from statistics import median
from typing import Any

from harness.board.board import Board
from harness.format.reference import Reference
from harness.site import charts
from harness.site.axis import BoardAxis


def task_page(board: Board, task: str, reference: Reference | None, pages: Sequence[str]) -> dict[str, Any]:
    """Return the variables for the template of a task's page. `reference` is None if the task is hidden."""
    lines, gaps = _lines(board, task, pages), {}
    drawn = [line[points] or 0.0 for line in lines for points in ("official", "level")]
    if reference is not None:
        found = reference.gaps.values()
        gaps = {"smallest gap": min(found), "median gap": median(found), "largest gap": max(found)}
    return {
        "gaps": [(f"{100 * gap:.1f} %", name) for name, gap in gaps.items()],
        "drawings": {} if reference is None else charts.gaps_by_hyperparameter(reference),
        "lines": lines,
        "axis": BoardAxis(0.0, max(drawn, default=0.0) or 1.0),
    }


def _lines(board: Board, task: str, pages: Sequence[str]) -> list[dict[str, Any]]:
    lines = []
    for row, page in zip(board.rows, pages, strict=True):
        found = row.tasks[task]
        lines.append({
            "name": row.label, "page": page, "official": found.official, "kendall": found.kendall,
            "text": found.official_text(), "level": found.chance_level,
            "p": found.p_value, "adjusted": found.adjusted_p_value,
        })  # fmt: skip
    return sorted(lines, key=lambda line: (line["official"] is None, -(line["official"] or 0.0), line["name"]))
