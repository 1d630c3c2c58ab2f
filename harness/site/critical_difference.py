"""The critical-difference diagram of mean ranks over tasks, in which bars join rows that may be equally good."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor
from typing import Any

from harness.board.across_tasks import across_tasks
from harness.board.board import Board
from harness.text import cut, p_value_equation
from scoring import MeanRanks

#: Maximum number of rows in the diagram, the best first.
MOST = 15

#: Maximum number of characters of a name; the whole name is the title of the element.
NAME_LENGTH = 24

#: Width of the diagram, and both ends of its axis, in pixels.
WIDTH, LEFT, RIGHT = 840, 230, 610

#: Distance of the axis from the top, and vertical distances of names and of bars, in pixels.
AXIS, LINE, BAR = 56, 22, 8

#: Maximum number of steps between ticks, and possible sizes of a step.
MOST_TICKS, STEPS = 10, [factor * 10**power for power in range(7) for factor in (1, 2, 5)]


@dataclass(frozen=True)
class Label:
    """The name of a row in the diagram, with a line to the row's mean rank on the axis."""

    name: str
    short: str  #: the beginning of the name
    mean_rank: float  #: mean rank over the tasks; 1 is the best
    x: float  #: horizontal place of the mean rank, in pixels
    y: int  #: vertical place of the name, in pixels
    is_left: bool  #: whether the name is on the left of the axis


def critical_difference(board: Board) -> dict[str, Any] | None:
    """Return the template's variables for a board's section on mean ranks; None for too few rows or tasks."""
    compared = across_tasks(board)
    if compared is None:
        return None
    positions, found = compared
    names = [board.rows[position].label for position in positions[:MOST]]
    return {
        "sentence": _sentence(found),
        "others": len(positions) - len(names),
        "diagram": _diagram(names, sorted(found.mean_ranks)[: len(names)], found),
    }


def _sentence(found: MeanRanks) -> str:
    return (
        f"Friedman's test over {found.n_tasks} tasks gives {p_value_equation(found.p_value)} for the hypothesis that "
        f"all {len(found.order)} complete rows are equally good on tasks like these, and rows whose mean ranks differ "
        f"by less than {found.critical_difference:.2f}, Nemenyi's critical difference at 0.05, cannot be told apart."
    )


def _diagram(names: Sequence[str], mean_ranks: Sequence[float], found: MeanRanks) -> dict[str, Any]:
    lowest = floor(mean_ranks[0])
    highest = max(ceil(max(mean_ranks[-1], lowest + found.critical_difference)), lowest + 1)

    def place(rank: float) -> float:
        return LEFT + (RIGHT - LEFT) * (rank - lowest) / (highest - lowest)

    groups = _shown_groups(found.groups, len(names))
    bars = [(place(mean_ranks[first]), place(mean_ranks[last])) for first, last in groups]
    top = AXIS + BAR * (len(bars) + 1) + LINE
    n_left = ceil(len(names) / 2)
    lines = [*range(n_left), *reversed(range(len(names) - n_left))]
    step = next(size for size in STEPS if (highest - lowest) / size <= MOST_TICKS)
    return {
        "width": WIDTH, "height": top + LINE * n_left, "left": LEFT, "right": RIGHT, "axis": AXIS,
        "critical_end": place(lowest + found.critical_difference), "critical_difference": found.critical_difference,
        "ticks": [(rank, place(rank)) for rank in range(lowest, highest + 1, step)],
        "bars": [(start, end, AXIS + BAR * number) for number, (start, end) in enumerate(bars, start=1)],
        "labels": [
            Label(name, cut(name, NAME_LENGTH), mean_rank, place(mean_rank), top + LINE * line, number < n_left)
            for number, (name, mean_rank, line) in enumerate(zip(names, mean_ranks, lines, strict=True))
        ],
    }  # fmt: skip


def _shown_groups(groups: Sequence[tuple[int, int]], n_rows: int) -> list[tuple[int, int]]:
    """Return the first and last drawn row of each bar. A bar is left out if another bar joins all these rows."""
    first_of = {min(last, n_rows - 1): first for first, last in reversed(groups) if first < n_rows - 1}
    return sorted((first, last) for last, first in first_of.items())
