"""A yardstick: a score beside the board that is not of a submission, for comparison by eye."""

import math
import statistics
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Self

from harness.board.scores import decimal


@dataclass(frozen=True)
class ScoreSpread:
    """An official score, 0 to 100, or the mean of several draws with their standard deviation."""

    mean: float
    deviation: float | None = None

    def text(self, decimals: int = 1) -> str:
        """Return mean and deviation for readers, for instance `20.7 ± 6.9`."""
        text = decimal(self.mean, decimals)
        return text if self.deviation is None else f"{text} ± {decimal(self.deviation, decimals)}"


@dataclass(frozen=True)
class Yardstick:
    """Scores that have no row and no rank, and take part in no comparison.

    Attributes:
        tasks: score on each task; None if the task has no score, or is withheld.
        score: mean of these scores; None if no task has a score, or if a task is withheld.
    """

    tasks: Mapping[str, ScoreSpread | None]
    score: ScoreSpread | None

    @classmethod
    def of(cls, tasks: Mapping[str, ScoreSpread | None], withheld: Collection[str] = ()) -> Self:
        """Return the yardstick with these scores; tasks `withheld` have none, and then there is no mean.

        Draws of tasks are independent, so variances add up.
        """
        shown = {name: None if name in withheld else found for name, found in tasks.items()}
        return cls(shown, None if withheld else _mean([found for found in shown.values() if found is not None]))


def _mean(found: list[ScoreSpread]) -> ScoreSpread | None:
    if not found:
        return None
    deviations = [one.deviation for one in found if one.deviation is not None]
    deviation = math.hypot(*deviations) / len(found) if deviations else None
    return ScoreSpread(statistics.fmean(one.mean for one in found), deviation)
