"""Yardsticks: scores beside a board that belong to no submission, for comparison by eye."""

import math
import statistics
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Self

from harness.board.scores import decimal


@dataclass(frozen=True)
class ScoreSpread:
    """An official score, 0 to 100, or the mean of the scores of several random draws with their standard deviation."""

    mean: float
    deviation: float | None = None

    def text(self) -> str:
        """Return mean and standard deviation for readers, such as `20.7 ± 6.9`."""
        text = decimal(self.mean, 1)
        return text if self.deviation is None else f"{text} ± {decimal(self.deviation, 1)}"


@dataclass(frozen=True)
class Yardstick:
    """Scores without a row and a rank, which take part in no comparison of rows."""

    tasks: Mapping[str, ScoreSpread | None]  #: task -> score; None if the task has no official score, or is hidden
    score: ScoreSpread | None  #: mean of the scores; None if no task has a score, or if a task is hidden

    @classmethod
    def of(cls, tasks: Mapping[str, ScoreSpread | None], withheld: Collection[str] = ()) -> Self:
        """Return the yardstick with these scores by task, without the tasks `withheld`, and with their mean."""
        shown = {name: None if name in withheld else found for name, found in tasks.items()}
        return cls(shown, None if withheld else _mean([found for found in shown.values() if found is not None]))


def _mean(found: list[ScoreSpread]) -> ScoreSpread | None:
    """Return the mean of scores on tasks, whose draws are independent, so that variances add up."""
    if not found:
        return None
    deviations = [one.deviation for one in found if one.deviation is not None]
    deviation = math.hypot(*deviations) / len(found) if deviations else None
    return ScoreSpread(statistics.fmean(one.mean for one in found), deviation)
