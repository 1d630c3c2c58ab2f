"""Yardsticks: reference scores beside a board that belong to no submission, such as the noisy oracle's."""

import math
import statistics
import zlib
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self

from harness.board.scores import decimal
from harness.format.reference import Reference
from scoring import ORACLE_DRAWS, ORACLE_NOISE, ScoreUndefined, has_official_score, oracle_scores


@dataclass(frozen=True)
class ScoreSpread:
    """An official score, 0 to 100, or the mean and standard deviation of scores of random draws."""

    mean: float
    deviation: float | None = None

    def text(self) -> str:
        """Return mean and standard deviation as text, such as `20.7 ± 6.9`."""
        text = decimal(self.mean, 1)
        return text if self.deviation is None else f"{text} ± {decimal(self.deviation, 1)}"


@dataclass(frozen=True)
class Yardstick:
    """Reference scores on the tasks of a board, without a rank."""

    tasks: Mapping[str, ScoreSpread | None]  #: task -> score; None if the task has no official score, or is hidden
    score: ScoreSpread | None  #: mean over tasks; None if no task has a score, or if a task is hidden

    @classmethod
    def of(cls, tasks: Mapping[str, ScoreSpread | None], withheld: Collection[str] = ()) -> Self:
        """Return the reference scores on public tasks, and their mean unless a task is hidden (`withheld`)."""
        shown = {name: None if name in withheld else found for name, found in tasks.items()}
        return cls(shown, None if withheld else _mean([found for found in shown.values() if found is not None]))


def _mean(found: list[ScoreSpread]) -> ScoreSpread | None:
    if not found:
        return None
    deviations = [one.deviation for one in found if one.deviation is not None]
    deviation = math.hypot(*deviations) / len(found) if deviations else None
    return ScoreSpread(statistics.fmean(one.mean for one in found), deviation)


class Oracle(Yardstick):
    """The scores of a measure that returns the gap itself plus random noise."""

    @property
    def note(self) -> str:
        """A line for readers that explains the noisy oracle and states its score."""
        if self.score is None:
            return "noisy oracle: none, because no submission can have an official score on these tasks."
        return (
            f"noisy oracle: {self.score.text()}, mean and standard deviation of up to {ORACLE_DRAWS} draws: the score "
            f"of the gaps themselves with normal noise of {ORACLE_NOISE} added. It shows the scale; it is no "
            "submission, has no rank, and a good measure may score higher."
        )

    @property
    def content(self) -> dict[str, Any]:
        """The noise, the largest number of draws on a task, the final score, and the scores by task, for JSON."""
        tasks = {name: None if spread is None else asdict(spread) for name, spread in self.tasks.items()}
        score = None if self.score is None else asdict(self.score)
        return {"noise": ORACLE_NOISE, "draws": ORACLE_DRAWS, "score": score, "tasks": tasks}


def score_oracle(references: Mapping[str, Reference], withheld: Collection[str] = ()) -> Oracle:
    """Compute the scores of the noisy oracle on all tasks; the hidden tasks `withheld` get no score."""
    tasks = {name: None if name in withheld else _on_task(name, known) for name, known in references.items()}
    return Oracle.of(tasks, withheld)


def is_scored(references: Mapping[str, Reference]) -> bool:
    """Return whether some task can have an official score."""
    return any(has_official_score(reference.grid) for reference in references.values())


def _on_task(name: str, reference: Reference) -> ScoreSpread | None:
    gaps = [reference.gaps[model] for model in reference.grid.models]
    try:
        scores = oracle_scores(gaps, reference.grid, seed=zlib.crc32(name.encode()))
    except ScoreUndefined:
        return None
    return ScoreSpread(100 * float(scores.mean()), 100 * float(scores.std(ddof=1)))
