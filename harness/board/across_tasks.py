"""Comparisons of rows over the tasks of a board: tests of mean ranks, and differences between two rows."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness.board.board import Board
from scoring import MeanRanks, compare_mean_ranks, difference_on_other_tasks, signed_rank_p_values


@dataclass(frozen=True)
class Pair:
    """The difference of two rows' mean scores on further tasks, drawn at random like the board's: interval and test."""

    low: float  #: lower end of the 90 % interval, -100 to 100
    high: float  #: upper end of the 90 % interval
    p_value: float | None  #: p-value of Wilcoxon's signed-rank test; None for fewer than six tasks


def across_tasks(board: Board) -> tuple[list[int], MeanRanks] | None:
    """Compare the mean ranks of all complete ranked rows.

    Return the positions of these rows on the board, best mean rank first, and the results of the tests. Return None if
    there are fewer than three such rows, or fewer than six scored tasks.
    """
    compared = _compared(board)
    found = compare_mean_ranks(board.task_scores[:, compared])
    return None if found is None else (compared[[*found.order]].tolist(), found)


def across_tasks_object(board: Board) -> dict[str, Any] | None:
    """Return the results of `across_tasks` as a JSON object.

    `row` is a position on the board. `first` and `last` of a group are positions in `rows`: the mean ranks of these and
    of all rows between them differ by less than `critical_difference`.
    """
    compared = across_tasks(board)
    if compared is None:
        return None
    positions, found = compared
    return {
        "tasks": found.n_tasks,
        "friedman_p_value": found.p_value,
        "critical_difference": found.critical_difference,
        "rows": [
            {"row": position, "submission": board.rows[position].submission, "mean_rank": mean_rank}
            for position, mean_rank in zip(positions, sorted(found.mean_ranks), strict=True)
        ],
        "groups": [{"first": first, "last": last} for first, last in found.groups],
    }


def pairs_across_tasks(board: Board, number: int) -> dict[int, Pair]:
    """Compare the row at position `number` with every complete ranked row, including itself.

    Return position of the other row -> difference. Return {} if there are fewer than four tasks, or if the row at
    `number` has no rank or is not complete.
    """
    others = _compared(board)
    if number not in others:
        return {}
    differences = board.task_scores[:, [number]] - board.task_scores[:, others]
    intervals, p_values = difference_on_other_tasks(differences), signed_rank_p_values(differences)
    if intervals is None:
        return {}
    shown = [None] * len(others) if p_values is None else p_values.tolist()
    return {
        other: Pair(low, high, p_value)
        for other, (low, high), p_value in zip(others.tolist(), intervals.tolist(), shown, strict=True)
    }


def _compared(board: Board) -> NDArray[np.intp]:
    return np.array([number for number, row in enumerate(board.rows) if row.standing is not None], dtype=np.intp)
