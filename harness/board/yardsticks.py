"""Yardsticks: reference scores beside a board that belong to no submission, such as the noisy oracle's.

Hidden tasks get no such score, and no fit uses their gaps: published scores could reveal facts about these gaps.
"""

import math
import statistics
import zlib
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self

from harness.board.scores import decimal
from harness.format.reference import Reference
from scoring import (
    ORACLE_DRAWS,
    ORACLE_NOISE,
    ScoreUndefined,
    additive_fit,
    has_official_score,
    official_score,
    oracle_scores,
)


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
    def of(cls, public: Mapping[str, ScoreSpread | None], tasks: Collection[str]) -> Self:
        """Return the yardstick of a board on `tasks`; `public` has its score on every task that is not hidden."""
        known = [found for found in public.values() if found is not None]
        is_whole = bool(known) and public.keys() >= set(tasks)
        return cls({name: public.get(name) for name in tasks}, _mean(known) if is_whole else None)


def _mean(found: list[ScoreSpread]) -> ScoreSpread:
    deviations = [one.deviation for one in found if one.deviation is not None]
    deviation = math.hypot(*deviations) / len(found) if deviations else None
    return ScoreSpread(statistics.fmean(one.mean for one in found), deviation)


NO_SCORES = Yardstick({}, None)


@dataclass(frozen=True)
class Yardsticks:
    """The yardsticks of a board: the noisy oracle, and a fit of the gaps by the hyperparameters alone."""

    oracle: Yardstick = NO_SCORES  #: scores of a measure that returns the gap itself plus random noise
    fit: Yardstick = NO_SCORES  #: scores of the additive least-squares fit of the same task's gaps

    @property
    def note_on_oracle(self) -> str:
        """A line for readers that explains the noisy oracle and states its score."""
        if self.oracle.score is None:
            return "noisy oracle: none, because no submission can have an official score on these tasks."
        return (
            f"noisy oracle: {self.oracle.score.text()}, mean and standard deviation of up to {ORACLE_DRAWS} draws: the "
            f"score of the gaps themselves with normal noise of {ORACLE_NOISE} added. It shows the scale; it is no "
            "submission, has no rank, and a good measure may score higher."
        )

    @property
    def notes_on_fit(self) -> list[str]:
        """A list with a line that explains the fit of the gaps and states its score; [] if the fit has no score."""
        if self.fit.score is None:
            return []
        return [
            f"hyperparameters: {self.fit.score.text()}, the score of an additive least-squares fit of the gaps by all "
            "hyperparameters on the same task. It uses no network, is no submission and has no rank."
        ]

    @property
    def content(self) -> dict[str, Any]:
        """For JSON: all scores, 0 to 100, the oracle's noise, and its maximum number of draws."""
        tasks = {name: None if spread is None else asdict(spread) for name, spread in self.oracle.tasks.items()}
        score = None if self.oracle.score is None else asdict(self.oracle.score)
        fits = {name: None if found is None else found.mean for name, found in self.fit.tasks.items()}
        in_sample = {"score": None if self.fit.score is None else self.fit.score.mean, "tasks": fits}
        oracle = {"noise": ORACLE_NOISE, "draws": ORACLE_DRAWS, "score": score, "tasks": tasks}
        return {"oracle": oracle, "hyperparameters": {"in_sample": in_sample}}


def score_yardsticks(public: Mapping[str, Reference], tasks: Collection[str]) -> Yardsticks:
    """Compute the yardsticks of a board on `tasks` from the reference data of the tasks that are not hidden."""
    oracle = {name: _oracle(name, reference) for name, reference in public.items()}
    fit = {name: _fit(reference) for name, reference in public.items()}
    return Yardsticks(Yardstick.of(oracle, tasks), Yardstick.of(fit, tasks))


def _oracle(name: str, reference: Reference) -> ScoreSpread | None:
    gaps = [reference.gaps[model] for model in reference.grid.models]
    try:
        scores = oracle_scores(gaps, reference.grid, seed=zlib.crc32(name.encode()))
    except ScoreUndefined:
        return None
    return ScoreSpread(100 * float(scores.mean()), 100 * float(scores.std(ddof=1)))


def _fit(reference: Reference) -> ScoreSpread | None:
    gaps = [reference.gaps[model] for model in reference.grid.models]
    try:
        fitted = additive_fit(gaps, reference.grid)
    except ScoreUndefined:
        return None
    return ScoreSpread(100 * official_score(fitted, gaps, reference.grid).score)


def is_scored(references: Mapping[str, Reference]) -> bool:
    """Return whether some task can have an official score."""
    return any(has_official_score(reference.grid) for reference in references.values())
