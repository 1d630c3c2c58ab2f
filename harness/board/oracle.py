"""The noisy oracle: a reference beside the board, in no row and no comparison."""

import math
import statistics
import zlib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from harness.board.rounding import DECIMALS
from harness.board.scores import decimal
from harness.format.reference import Reference
from scoring import ORACLE_DRAWS, ORACLE_NOISE, ScoreUndefined, oracle_scores


@dataclass(frozen=True)
class Spread:
    """Mean and standard deviation of official scores over the draws of the oracle, 0 to 100."""

    mean: float
    deviation: float

    def text(self, decimals: int = 1) -> str:
        """Return mean and deviation for readers, for instance `20.7 ± 6.9`."""
        return f"{decimal(self.mean, decimals)} ± {decimal(self.deviation, decimals)}"


@dataclass(frozen=True)
class Oracle:
    """The scores of the gaps themselves with a little noise.

    Attributes:
        tasks: task -> its score; None if the task has no official score, whatever the measure.
        score: the mean over the tasks that have one; None if none has.
    """

    tasks: Mapping[str, Spread | None]
    score: Spread | None

    @property
    def note(self) -> str:
        """What it is and scores, for readers."""
        if self.score is None:
            return "noisy oracle: none, because no submission can have an official score on these tasks."
        return (
            f"noisy oracle: {self.score.text()}, mean and standard deviation of {ORACLE_DRAWS} draws: the score of the "
            f"gaps themselves with normal noise of {ORACLE_NOISE} added. It shows the scale; it is no submission, has "
            "no rank, and a good measure may lie above it."
        )

    @property
    def content(self) -> dict[str, Any]:
        """The oracle as a JSON object."""
        tasks = {name: None if spread is None else asdict(spread) for name, spread in self.tasks.items()}
        score = None if self.score is None else asdict(self.score)
        return {"noise": ORACLE_NOISE, "draws": ORACLE_DRAWS, "score": score, "tasks": tasks}


def score_oracle(references: Mapping[str, Reference], withheld: Collection[str] = ()) -> Oracle:
    """Score the oracle from reference data alone; the figures of the tasks `withheld` are rounded."""
    tasks = {name: _on_task(name, reference) for name, reference in references.items()}
    return combine({name: _rounded(spread) if name in withheld else spread for name, spread in tasks.items()}, withheld)


def combine(tasks: Mapping[str, Spread | None], withheld: Collection[str] = ()) -> Oracle:
    """Return the oracle with these scores on the tasks; the mean is rounded if some are of tasks `withheld`."""
    score = _mean(spread for spread in tasks.values() if spread is not None)
    return Oracle(tasks, _rounded(score) if withheld else score)


def _on_task(name: str, reference: Reference) -> Spread | None:
    gaps = [reference.gaps[model] for model in reference.grid.models]
    try:
        scores = oracle_scores(gaps, reference.grid, seed=zlib.crc32(name.encode()))
    except ScoreUndefined:
        return None
    return Spread(100 * float(scores.mean()), 100 * float(scores.std(ddof=1)))


def _mean(spreads: Iterable[Spread]) -> Spread | None:
    """The draws of tasks are independent, so variances add up."""
    found = list(spreads)
    if not found:
        return None
    deviation = math.hypot(*(spread.deviation for spread in found)) / len(found)
    return Spread(statistics.fmean(spread.mean for spread in found), deviation)


def _rounded(spread: Spread | None) -> Spread | None:
    return None if spread is None else Spread(round(spread.mean, DECIMALS), round(spread.deviation, DECIMALS))
