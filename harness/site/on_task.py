"""What the page of a task shows."""

from collections.abc import Sequence
from statistics import median
from typing import Any

from harness.board.board import Board
from harness.format.reference import Reference
from harness.site import charts
from harness.site.axis import BoardAxis


def task_page(board: Board, task: str, reference: Reference | None, pages: Sequence[str]) -> dict[str, Any]:
    """Return the content of the page of a task; `reference` is None if the task is hidden."""
    lines = _lines(board, task, pages)
    return {
        "gaps": [] if reference is None else _gaps(reference),
        "drawings": {} if reference is None else charts.gaps_by_hyperparameter(reference),
        "lines": lines,
        "axis": BoardAxis(0.0, max((line["official"] or 0.0 for line in lines), default=0.0) or 1.0),
    }


def _gaps(reference: Reference) -> list[tuple[str, str]]:
    gaps = reference.gaps.values()
    found = {"smallest gap": min(gaps), "median gap": median(gaps), "largest gap": max(gaps)}
    return [(f"{100 * gap:.1f} %", name) for name, gap in found.items()]


def _lines(board: Board, task: str, pages: Sequence[str]) -> list[dict[str, Any]]:
    """Return a line per submission, the best score on this task first, those without a score last."""
    lines = []
    for row, page in zip(board.rows, pages, strict=True):
        found = row.tasks[task]
        lines.append({
            "name": row.label, "page": page, "official": found.official, "kendall": found.kendall,
            "text": found.official_text(), "level": found.chance_level,
            "p": found.p_value, "adjusted": found.adjusted_p_value,
        })  # fmt: skip
    return sorted(lines, key=lambda line: (line["official"] is None, -(line["official"] or 0.0), line["name"]))
