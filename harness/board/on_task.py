"""The results of a submission on one task of a board."""

import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from harness.board.collect import CallRecord, value_of
from harness.board.disclosure import DECIMALS
from harness.board.scores import official, percent
from scoring import Chance, Failure, ScoreUndefined, SignErrors, TaskCalls, TaskScore, sign_errors

Vector = NDArray[np.float64]

#: P-values above this are usually not called significant.
SIGNIFICANT = 0.05

#: The outcome of a call that was never made.
MISSING = "missing"


@dataclass(frozen=True)
class OnTask:
    """Results of a submission on one task.

    Attributes:
        name: of the task.
        result: the scores, rounded if the task is withheld; or the reason why there is no score.
        n_models: number of the task's models; 0 if the submission was not called on them.
        failures: outcome -> number of models without a value.
        calls: model -> the record behind its value; empty if the task is withheld.
        withheld: whether only rounded scores and failures of the task are shown.
        scored: the values behind `result`; None if the task is withheld.
        chance: the official score beside chance; None without an official score, or if the task is withheld.
        adjusted_p_value: `p_value`, adjusted for the number of complete ranked rows; None for other rows.
        published: the published score of the measure, 0 to 100; None if not requested or not known.
    """

    name: str
    result: TaskScore | str
    n_models: int
    failures: Counter[str]
    calls: Mapping[str, CallRecord]
    withheld: bool = False
    scored: TaskCalls | None = None
    chance: Chance | None = None
    adjusted_p_value: float | None = None
    published: float | None = None

    def left_out(self, reason: str) -> "OnTask":
        """Return the results of a measure that is not called on the task, without records, for this reason."""
        return replace(self, result=f"left out: {reason}", n_models=0, failures=Counter(), calls={})

    @property
    def was_called(self) -> bool:
        """Whether the submission was called, or should have been; a measure may be left out on a task."""
        return self.n_models > 0

    @property
    def not_run(self) -> bool:
        """Whether the submission should have been called, but no call was made."""
        return self.was_called and self.failures[MISSING] == self.n_models

    @property
    def score(self) -> TaskScore | None:
        """The scores; None if a model has no value."""
        return self.result if isinstance(self.result, TaskScore) else None

    @property
    def official(self) -> float | None:
        """The official score, 0 to 100; None without an official score."""
        return None if self.score is None else percent(self.score.official)

    def official_text(self, digits: int = 2) -> str:
        """Return the official score as text; on a hidden task it has as many digits as are published."""
        return "not run" if self.not_run else official(self.result, DECIMALS if self.withheld else digits)

    @property
    def kendall(self) -> float | None:
        """Kendall's rank correlation, -1 to 1; None if a model has no value, or if the task is withheld."""
        return None if self.score is None else self.score.kendall

    @property
    def printed(self) -> float | None:
        """The score in the form that the competition's paper prints, 0 to 100; None as `kendall`."""
        return None if self.score is None else percent(self.score.printed)

    @property
    def chance_level(self) -> float | None:
        """Mean score of random values, 0 to 100; None where the score is not beside chance."""
        return None if self.chance is None else 100 * self.chance.level

    @property
    def p_value(self) -> float | None:
        """Largest probability of such a score for measures that know only two hyperparameters; None as the level."""
        return None if self.chance is None else self.chance.p_value

    @property
    def may_be_chance(self) -> bool | None:
        """Whether chance could explain the score; None where that is not known."""
        return None if self.p_value is None else self.p_value > SIGNIFICANT

    @property
    def sign_error(self) -> float | None:
        """Share of wrong orders among models that differ in one hyperparameter, 0 to 1; None if it is withheld."""
        return None if self._sign_errors is None else self._sign_errors.mean

    @property
    def robust_sign_error(self) -> float | None:
        """`sign_error` of the worst environment: two settings that differ in one hyperparameter; None if withheld."""
        return None if self._sign_errors is None else self._sign_errors.robust

    @cached_property
    def _sign_errors(self) -> SignErrors | None:
        if self.score is None or self.scored is None:
            return None
        try:
            return sign_errors(*vectors_of(self.scored), self.scored.grid).overall
        except ScoreUndefined:
            return None

    @property
    def reason(self) -> str:
        """Reason why there is no score: the outcomes and the first message; empty if there is a score."""
        if isinstance(self.result, TaskScore):
            return ""
        if self.withheld or not self.was_called:
            return self.result
        messages = (call.message for call in self.calls.values() if isinstance(value_of(call), Failure))
        message = next((message for message in messages if message), "")
        return f"{counted(self.failures)}: {message}" if message else counted(self.failures)

    @property
    def seconds_per_model(self) -> float | None:
        """Median wall time of a call; None without calls, or if the task is withheld."""
        return median_seconds(list(self.calls.values()))


def counted(failures: Counter[str]) -> str:
    """Return counts as text, the most frequent first, for instance `2 TIMEOUT, 1 CRASH`."""
    return ", ".join(f"{number} {outcome}" for outcome, number in failures.most_common())


def vectors_of(scored: TaskCalls) -> tuple[Vector, Vector]:
    """Return values and gaps of a task without failures, in the order of the grid's models, each (n_models,)."""
    models = scored.grid.models
    values, gaps = ([found[model] for model in models] for found in (scored.values, scored.gap))
    return np.array(values, np.float64), np.array(gaps, np.float64)


def median_seconds(calls: Sequence[CallRecord]) -> float | None:
    """Return the median wall time of some calls; None without calls."""
    return statistics.median(call.call_wall_s for call in calls) if calls else None
