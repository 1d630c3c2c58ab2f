"""A row of a board: the results of one submission, per task and overall."""

import statistics
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from harness.about import About
from harness.board.collect import CallRecord, Calls, value_of
from harness.board.disclosure import DECIMALS, rounded
from harness.board.scores import official, percent
from harness.board.stability import OwnRandomness, own_randomness
from harness.configuration import Configuration
from harness.format.reference import Reference
from scoring import (
    Chance,
    Failure,
    ScoreUndefined,
    SignErrors,
    Standing,
    SubmissionScore,
    TaskCalls,
    TaskScore,
    sign_errors,
)

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
        return _median(list(self.calls.values()))


@dataclass(frozen=True)
class Row:
    """A row: a submission in one version and configuration."""

    rank: int | None  #: None: the row may not be ranked
    submission: str  #: its name; for a measure, with its parameters
    kind: str  #: "submission" or "baseline"
    result: SubmissionScore
    tasks: Mapping[str, OnTask]
    sandboxed: bool
    family: str = ""  #: of a measure
    version: str = ""  #: SHA-256 of the submission's files
    requested_at: datetime | None = None  #: time of the most recent request for this version
    age: int = field(default=0, compare=False)  #: number of rows that were requested later
    configuration: Configuration | None = None  #: of its calls; None for a measure without records
    settings: str = ""  #: settings in which the row differs from most rows
    stale: int = 0  #: number of records of earlier versions of the tasks, which do not count
    p_value: float | None = None  #: of the mean score over tasks; None if a task is withheld
    adjusted_p_value: float | None = None  #: the same, adjusted for the number of complete ranked rows
    standing: Standing | None = None  #: intervals of score and rank; None for incomplete rows, or if a task is withheld
    own_randomness: OwnRandomness | None = None  #: None without repetitions
    about: About = field(default_factory=About)  #: team, description and link in its metadata

    @property
    def label(self) -> str:
        """The name, followed by the settings that distinguish the row from others of the same name."""
        return labelled(self.submission, self.settings, sandboxed=self.sandboxed)

    @property
    def score(self) -> float | None:
        """The final score, 0 to 100; None if no task has an official score."""
        return self.result.score

    @property
    def chance_level(self) -> float | None:
        """Mean score of random values over tasks, 0 to 100; None without official scores, or if a task is withheld."""
        return None if self.rounded else _mean(task.chance_level for task in self.tasks.values())

    @property
    def excess(self) -> float | None:
        """The score above the level of chance, in points; None without a level, or if a task is withheld."""
        return self._above_chance(self.score)

    @property
    def excess_low(self) -> float | None:
        """The lower end of the excess's interval; None without an interval."""
        return None if self.standing is None else self._above_chance(self.standing.low)

    @property
    def excess_high(self) -> float | None:
        """The upper end of the excess's interval; None without an interval."""
        return None if self.standing is None else self._above_chance(self.standing.high)

    @property
    def may_be_chance(self) -> bool | None:
        """Whether chance could explain the score, as the best of all rows; None where that is not known."""
        return None if self.adjusted_p_value is None else self.adjusted_p_value > SIGNIFICANT

    @property
    def beyond_hyperparameters(self) -> bool | None:
        """Whether the score is surely above the score of the hyperparameters, and outside the range of chance."""
        if self.standing is None or self.p_value is None:
            return None
        return self.standing.beyond_hyperparameters and self.p_value <= SIGNIFICANT

    def _above_chance(self, points: float | None) -> float | None:
        level = self.chance_level
        return None if points is None or level is None else points - level

    @property
    def own_error(self) -> float | None:
        """Standard error of the final score from the measure's own randomness, in points; None if it is not known."""
        return self.own_randomness.error if self.own_randomness else None

    @property
    def complete(self) -> bool:
        """Whether every task has a score."""
        return self.result.complete

    @property
    def kendall(self) -> float | None:
        """Mean of Kendall's rank correlation over the tasks that have a score, -1 to 1; None if a task is withheld."""
        return None if self.rounded else _mean(task.kendall for task in self.tasks.values())

    @property
    def seconds_per_model(self) -> float | None:
        """Median wall time of a call, over all tasks that are not withheld; None without calls."""
        return _median([call for task in self.tasks.values() for call in task.calls.values()])

    @property
    def calls_expected(self) -> int:
        """Number of models in all tasks on which it was called."""
        return sum(task.n_models for task in self.tasks.values())

    @property
    def calls_ok(self) -> int:
        """Number of models with a value."""
        return self.calls_expected - self.failures.total()

    @property
    def failures(self) -> Counter[str]:
        """Outcome -> number of models without a value, over all tasks."""
        return sum((task.failures for task in self.tasks.values()), Counter())

    @property
    def rounded(self) -> tuple[str, ...]:
        """The withheld tasks: their scores and `score` are rounded."""
        return tuple(sorted(name for name, task in self.tasks.items() if task.withheld))

    @property
    def reasons(self) -> dict[str, list[str]]:
        """Reason why tasks have no score -> these tasks."""
        tasks: dict[str, list[str]] = {}
        for name, task in self.tasks.items():
            if task.reason:
                tasks.setdefault(task.reason, []).append(name)
        return tasks

    @property
    def reason(self) -> str:
        """The reasons in one line; empty if all tasks have a score."""
        return "; ".join(f"{', '.join(names)}: {reason}" for reason, names in self.reasons.items())


def make_row(
    calls: Calls, result: SubmissionScore, references: Mapping[str, Reference], withheld: Collection[str]
) -> Row:
    """Return the row of some calls, without a rank; rounds their score `result` on withheld tasks."""
    shown = rounded(result, withheld)
    records: dict[str, dict[str, CallRecord]] = {task: {} for task in references}
    for (task, model), record in calls.rows.items():
        if task in records:
            records[task][model] = record
    return Row(
        rank=None,
        submission=calls.submission,
        kind="baseline" if calls.is_baseline else "submission",
        result=shown,
        tasks={
            task: OnTask(
                task,
                shown.tasks[task],
                len(reference.models),
                _failures(records[task], len(reference.models)),
                {} if task in withheld else records[task],
                task in withheld,
                None if task in withheld else calls.on(task, reference),
            )
            for task, reference in references.items()
        },
        sandboxed=calls.sandboxed,
        version=calls.version,
        requested_at=calls.requested_at,
        age=calls.age,
        configuration=calls.configuration,
        stale=len(calls.stale),
        own_randomness=own_randomness(calls, result, references, withheld),
        about=calls.about,
    )


def _failures(calls: Mapping[str, CallRecord], n_models: int) -> Counter[str]:
    failures = Counter(str(call.outcome) for call in calls.values() if isinstance(value_of(call), Failure))
    if len(calls) < n_models:
        failures[MISSING] = n_models - len(calls)
    return failures


def labelled(submission: str, settings: str, *, sandboxed: bool) -> str:
    """Return a name with the settings that differ from those of most rows, and whether it ran without a sandbox."""
    marks = [mark for mark in (settings, "" if sandboxed else "not sandboxed") if mark]
    return f"{submission} ({', '.join(marks)})" if marks else submission


def counted(failures: Counter[str]) -> str:
    """Return counts as text, the most frequent first, for instance `2 TIMEOUT, 1 CRASH`."""
    return ", ".join(f"{number} {outcome}" for outcome, number in failures.most_common())


def vectors_of(scored: TaskCalls) -> tuple[Vector, Vector]:
    """Return values and gaps of a task without failures, in the order of the grid's models, each (n_models,)."""
    models = scored.grid.models
    values, gaps = ([found[model] for model in models] for found in (scored.values, scored.gap))
    return np.array(values, np.float64), np.array(gaps, np.float64)


def _mean(numbers: Iterable[float | None]) -> float | None:
    """Return the mean of the numbers that are not None."""
    known = [number for number in numbers if number is not None]
    return statistics.fmean(known) if known else None


def _median(calls: Sequence[CallRecord]) -> float | None:
    return statistics.median(call.call_wall_s for call in calls) if calls else None
