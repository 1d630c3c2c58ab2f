"""The results of a submission on one task of a board."""

import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from harness.board.collect import CallRecord, value_of
from harness.board.disclosure import DECIMALS
from harness.board.scores import official, percent
from scoring import Chance, Failure, ScoreUndefined, SignErrors, TaskCalls, TaskScore, sign_errors

Vector = NDArray[np.float64]

SIGNIFICANT = 0.05  #: the largest significant p-value
MISSING = "missing"  #: outcome of a call that was never made


@dataclass(frozen=True)
class OnTask:
    """The results of a submission on one task."""

    name: str
    result: TaskScore | str  #: scores, rounded if the task is hidden; or the reason why the task has no score
    n_models: int  #: number of the task's models; 0 if a comparison does not call the measure on this task
    failures: Counter[str]  #: outcome -> number of models without a value
    calls: Mapping[str, CallRecord]  #: model -> its record; empty if the task is hidden
    withheld: bool = False  #: whether the task is hidden
    scored: TaskCalls | None = None  #: the values and gaps that `result` was computed from; None if the task is hidden
    chance: Chance | None = None  #: scores of random permutations; None for a hidden task or without an official score
    #: p-value adjusted for the number of rows; None for a row that has no rank or is not complete
    adjusted_p_value: float | None = None
    published: float | None = None  #: the measure's published score, 0 to 100; None if unknown or not requested

    @property
    def was_called(self) -> bool:
        """Whether the submission is called on this task; a comparison skips measures that cannot work on the task."""
        return self.n_models > 0

    @property
    def not_run(self) -> bool:
        """Whether all of the submission's calls on this task are missing."""
        return self.was_called and self.failures[MISSING] == self.n_models

    @property
    def interrupted(self) -> bool:
        """Whether some of the submission's calls on this task are missing, and all calls that were made succeeded."""
        return set(self.failures) == {MISSING} and not self.not_run

    @property
    def score(self) -> TaskScore | None:
        """The scores on the task; None if a model has no value."""
        return self.result if isinstance(self.result, TaskScore) else None

    @property
    def official(self) -> float | None:
        """The official score, 0 to 100; None if a model has no value, or if the task's grid has no official score."""
        return None if self.score is None else percent(self.score.official)

    def official_text(self, digits: int = 2) -> str:
        """Return the official score as text with `digits` decimals, or `DECIMALS` decimals for a hidden task."""
        if self.interrupted:
            return "unfinished"
        return "not run" if self.not_run else official(self.result, DECIMALS if self.withheld else digits)

    @property
    def kendall(self) -> float | None:
        """Kendall's rank correlation with the gaps, -1 to 1; None if a model has no value, or if the task is hidden."""
        return None if self.score is None else self.score.kendall

    @property
    def chance_level(self) -> float | None:
        """Mean official score of random permutations, 0 to 100; None if it was not computed."""
        return None if self.chance is None else 100 * self.chance.level

    @property
    def p_value(self) -> float | None:
        """Upper bound of the probability that two hyperparameters alone score as high; None if it was not computed."""
        return None if self.chance is None else self.chance.p_value

    @property
    def may_be_chance(self) -> bool | None:
        """Whether chance could explain the score: `p_value` is above `SIGNIFICANT`; None without a p-value."""
        return None if self.p_value is None else self.p_value > SIGNIFICANT

    @cached_property
    def sign_errors(self) -> SignErrors | None:
        """How often models that differ in one hyperparameter are ordered wrongly, from 0 to 1; None if undefined."""
        if self.score is None or self.scored is None:
            return None
        try:
            return sign_errors(*vectors_of(self.scored), self.scored.grid).overall
        except ScoreUndefined:
            return None

    @property
    def reason(self) -> str:
        """Why the task has no score: number of calls by outcome, and the first message. "" if it has a score.

        If no call failed, it is the rule's own reason, such as a call over the time budget in another task.
        """
        if isinstance(self.result, TaskScore):
            return ""
        if self.withheld or not self.was_called or not self.failures:
            return self.result
        failed = [call.message for call in self.calls.values() if isinstance(value_of(call), Failure)]
        messages = list(dict.fromkeys(filter(None, failed)))
        if not messages:
            return counted(self.failures)
        return f"{counted(self.failures)}{', for example' if len(messages) > 1 else ''}: {messages[0]}"

    @property
    def seconds_per_model(self) -> float | None:
        """Median wall time of a call in seconds; None without calls, or if the task is hidden."""
        return median_seconds(list(self.calls.values()))


def counted(failures: Counter[str]) -> str:
    """Return numbers of calls by outcome as text, most frequent first, such as `2 TIMEOUT, 1 CRASH`."""
    return ", ".join(f"{number} {outcome}" for outcome, number in failures.most_common())


def vectors_of(scored: TaskCalls) -> tuple[Vector, Vector]:
    """Return values and gaps of a task on which no call failed: arrays (n_models,), in the grid's order of models."""
    models = scored.grid.models
    values, gaps = ([found[model] for model in models] for found in (scored.values, scored.gap))
    return np.array(values, np.float64), np.array(gaps, np.float64)


def median_seconds(calls: Sequence[CallRecord]) -> float | None:
    """Return the median wall time of calls in seconds; None without calls."""
    return statistics.median(call.call_wall_s for call in calls) if calls else None
