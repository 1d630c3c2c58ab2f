"""Axes of drawings, with ticks at round numbers. A board has a common axis for all its scores."""

from dataclasses import dataclass
from itertools import count
from math import ceil, floor, inf, log10
from statistics import median
from sys import float_info

from harness.board.board import Board

#: Maximum number of steps between ticks.
MOST_STEPS = 6

#: ROOM: room beyond the largest number, as a share of this number. FARTHEST: the noisy oracle is drawn if it is at most
#: this multiple of the highest score.
ROOM, FARTHEST = 0.04, 2.0


@dataclass(frozen=True)
class Axis:
    """An axis from `low` to `high`."""

    low: float
    high: float

    @property
    def ticks(self) -> list[float]:
        """The round numbers on the axis, at most `MOST_STEPS` + 1, at a distance of 1, 2 or 5 times a power of ten."""
        length = self.high - self.low
        if not float_info.min <= length < inf:  # a shorter step could round to 0
            return [self.low]
        steps = (digit * 10.0**power for power in count(floor(log10(length / MOST_STEPS))) for digit in (1, 2, 5))
        step = next(step for step in steps if length / step <= MOST_STEPS)
        return [float(f"{number * step:.12g}") for number in range(ceil(self.low / step), floor(self.high / step) + 1)]

    def place(self, number: float) -> float:
        """Return the place of a number in per cent of the axis; 0 or 100 if the number is beyond an end."""
        share = (number - self.low) / ((self.high - self.low) or 1)
        return 100 * min(1.0, max(0.0, share))


@dataclass(frozen=True)
class RankAxis(Axis):
    """An axis of ranks, without ticks at its ends."""

    @property
    def ticks(self) -> list[float]:
        """The whole numbers among the round numbers, without the ends of the axis."""
        return [tick for tick in super().ticks if tick.is_integer() and self.low < tick < self.high]


@dataclass(frozen=True)
class BoardAxis(Axis):
    """The axis of a board's scores, from 0, with two marks for comparison: level of chance and noisy oracle."""

    chance: float | None = None  #: level of chance: of a row, or the median of all rows' levels; None if not known
    oracle: tuple[float, float] | None = None  #: the noisy oracle's mean score minus and plus a standard deviation


def board_axis(board: Board) -> BoardAxis:
    """Return the axis for all scores, intervals and levels of chance of a board.

    The noisy oracle is left out if its score is far higher than all rows' scores.
    """
    highest = max((row.standing.high if row.standing else row.score or 0.0 for row in board.rows), default=0.0)
    levels = [row.chance_level for row in board.rows if row.chance_level is not None]
    oracle = None
    if (spread := board.yardsticks.oracle.score) is not None:
        low, high = spread.mean - (spread.deviation or 0.0), spread.mean + (spread.deviation or 0.0)
        oracle = (low, high) if high <= FARTHEST * highest else None
    top = max(highest, *levels, oracle[1] if oracle else 0.0) or 1.0
    return BoardAxis(0.0, (1 + ROOM) * top, median(levels) if levels else None, oracle)
