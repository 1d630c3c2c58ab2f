"""A row of a board: the results of one submission over all tasks."""

import statistics
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from harness.about import About
from harness.board.collect import CallRecord, Calls, value_of
from harness.board.disclosure import rounded
from harness.board.on_task import MISSING, SIGNIFICANT, OnTask, median_seconds
from harness.board.stability import OwnRandomness, own_randomness
from harness.configuration import Configuration
from harness.format.reference import Reference
from scoring import Failure, Standing, SubmissionScore


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
        return median_seconds([call for task in self.tasks.values() for call in task.calls.values()])

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


def _mean(numbers: Iterable[float | None]) -> float | None:
    """Return the mean of the numbers that are not None."""
    known = [number for number in numbers if number is not None]
    return statistics.fmean(known) if known else None
