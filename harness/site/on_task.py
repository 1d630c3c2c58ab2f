"""What the page of a task shows."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from harness.board.board import Board
from harness.format.reference import Reference
from harness.site.insight import Insight


def grid_lines(reference: Reference) -> list[dict[str, Any]]:
    """Return a line per value of each hyperparameter: number of models and mean gap."""
    grid, gaps = reference.grid, np.array([reference.gaps[model] for model in reference.models])
    return [
        {
            "name": name if code == 0 else "", "value": value,
            "models": int((grid.codes[:, column] == code).sum()),
            "gap": float(gaps[grid.codes[:, column] == code].mean()) if (grid.codes[:, column] == code).any() else None,
        }
        for column, name in enumerate(grid.names)
        for code, value in enumerate(grid.values[name])
    ]  # fmt: skip


def score_lines(
    board: Board, task: str, insights: Mapping[int, Mapping[str, Insight]], pages: Sequence[str]
) -> list[dict[str, Any]]:
    """Return a line per submission, the best score on this task first, those without a score last."""
    lines = []
    for number, row in enumerate(board.rows):
        found = row.tasks[task]
        lines.append({
            "name": row.label, "page": pages[number], "official": found.official, "kendall": found.kendall,
            "text": found.official_text(), "insight": insights[number].get(task),
            "p": found.p_value, "adjusted": found.adjusted_p_value,
        })  # fmt: skip
    return sorted(lines, key=lambda line: (line["official"] is None, -(line["official"] or 0.0), line["name"]))
