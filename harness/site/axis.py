"""Axes of drawings: round ticks, places along them, and the axis that the intervals of all rows of a board share."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from math import ceil, floor, isfinite, log10
from statistics import median

from harness.board.board import Board

#: Most steps from end to end.
MOST_STEPS = 6

#: Room beyond the last number, as a share of the axis; the noisy oracle is drawn up to so many times the highest row.
ROOM, FARTHEST = 0.04, 2.0


def ticks(low: float, high: float, most: int = MOST_STEPS) -> list[float]:
    """Return multiples of the smallest of 1, 2, 5, 10, ... (or such parts of 1) with at most `most` steps."""
    if high <= low or not isfinite(high - low):
        return [low]
    step = next(step for step in _steps(floor(log10((high - low) / most))) if (high - low) / step <= most)
    return [float(f"{number * step:.12g}") for number in range(ceil(low / step), floor(high / step) + 1)]


def _steps(exponent: int) -> Iterator[float]:
    yield from (digit * 10.0**power for power in count(exponent) for digit in (1, 2, 5))


@dataclass(frozen=True)
class Axis:
    """An axis from `low` to `high`."""

    low: float
    high: float

    @property
    def ticks(self) -> list[float]:
        """Round numbers from end to end."""
        return ticks(self.low, self.high)

    def place(self, number: float) -> float:
        """Return where a number lies, in per cent of the axis; numbers beyond an end lie at that end."""
        share = (number - self.low) / ((self.high - self.low) or 1)
        return 100 * min(1.0, max(0.0, share))


@dataclass(frozen=True)
class BoardAxis(Axis):
    """The axis of a board's scores, from 0.

    Attributes:
        chance: median of the rows' levels of chance; None if no row has one.
        oracle: the noisy oracle's score with a standard deviation to both sides; None if it has none, or lies far
            beyond all rows.
    """

    chance: float | None = None
    oracle: tuple[float, float] | None = None


def board_axis(board: Board) -> BoardAxis:
    """Return the axis on which all scores and intervals of a board find room."""
    highest = max((row.standing.high if row.standing else row.score or 0.0 for row in board.rows), default=0.0)
    levels = [row.chance_level for row in board.rows if row.chance_level is not None]
    oracle = None
    if (spread := board.oracle.score) is not None:
        low, high = spread.mean - (spread.deviation or 0.0), spread.mean + (spread.deviation or 0.0)
        oracle = (low, high) if high <= FARTHEST * highest else None
    top = max(highest, oracle[1] if oracle else 0.0) or 1.0
    return BoardAxis(0.0, (1 + ROOM) * top, median(levels) if levels else None, oracle)
