"""A row of a board."""

import statistics
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from harness.about import About
from harness.board.collect import CallRecord, Calls, Cell, value_of
from harness.board.disclosure import rounded
from harness.board.on_task import MISSING, SIGNIFICANT, OnTask, median_seconds
from harness.board.repetitions import OwnRandomness, own_randomness
from harness.configuration import Configuration
from harness.format.reference import Reference
from scoring import Failure, Standing, SubmissionScore, TaskScore


@dataclass(frozen=True)
class Row:
    """The results of a submission, in one version and configuration, on all tasks of a board."""

    rank: int | None  #: 1 is the best; None before ranking, and for a row that is not ranked
    submission: str  #: name of the submission, or of a measure with its parameters
    kind: str  #: "submission" or "baseline"
    result: SubmissionScore
    tasks: Mapping[str, OnTask]
    sandboxed: bool
    family: str = ""  #: family of the measure; only in comparisons
    version: str = ""  #: SHA-256 of the submission's files
    requested_at: datetime | None = None  #: time of the most recent request for this version
    age: int = field(default=0, compare=False)  #: number of rows that were requested more recently
    configuration: Configuration | None = None  #: None for a measure without records
    settings: str = ""  #: the settings in which the row differs from most rows, such as `seed 1, limit 60 s`
    stale: int = 0  #: number of models whose only records are of an earlier version of the task
    p_value: float | None = None  #: p-value of the mean score over tasks; None where `chance_level` is None
    #: `p_value` adjusted for the number of rows; None for a row that has no rank or is not complete
    adjusted_p_value: float | None = None
    #: intervals of score and rank; None if the row has no rank or is not complete, or if a task is hidden
    standing: Standing | None = None
    own_randomness: OwnRandomness | None = None  #: spread of scores over seeds; None without repetitions
    about: About = field(default_factory=About)  #: team, description and link in the submission's metadata

    @property
    def label(self) -> str:
        """The name with its marks, such as `name (seed 1, not sandboxed)`."""
        return labelled(self.submission, self.settings, sandboxed=self.sandboxed)

    @property
    def score(self) -> float | None:
        """The final score, 0 to 100; None if no task has an official score."""
        return self.result.score

    @property
    def chance_level(self) -> float | None:
        """Mean score of random permutations, 0 to 100; None without official scores, or if a task is hidden.

        Also None if a call exceeded its time: then the score is 0, whatever the values.
        """
        if self.rounded or self.result.exceeded:
            return None
        return _mean(task.chance_level for task in self.tasks.values())

    @property
    def excess(self) -> float | None:
        """`score` minus `chance_level`, in points; None if there is no score or no chance level."""
        return None if self.score is None or self.chance_level is None else self.score - self.chance_level

    @property
    def excess_interval(self) -> tuple[float, float] | tuple[None, None]:
        """Both ends of the 90 % interval of `excess`; (None, None) if there is no interval."""
        if self.standing is None or self.chance_level is None:
            return None, None
        return self.standing.low - self.chance_level, self.standing.high - self.chance_level

    @property
    def may_be_chance(self) -> bool | None:
        """Whether chance could explain the score: `adjusted_p_value` is above `SIGNIFICANT`; None without a p-value."""
        return None if self.adjusted_p_value is None else self.adjusted_p_value > SIGNIFICANT

    @property
    def beyond_hyperparameters(self) -> bool | None:
        """Whether the score is significantly above chance, and above a fit of the gaps by hyperparameters.

        None if this is not known, for instance because a task is hidden.
        """
        if self.standing is None or self.p_value is None:
            return None
        return self.standing.beyond_hyperparameters and self.p_value <= SIGNIFICANT

    @property
    def own_error(self) -> float | None:
        """Standard error of the score over the measure's own random draws, in points; None if unknown."""
        return self.own_randomness.error if self.own_randomness else None

    @property
    def complete(self) -> bool:
        """Whether the row has an official score on every task that can have one."""
        return self.result.complete

    @property
    def kendall(self) -> float | None:
        """Mean of Kendall's rank correlation over the tasks with an official score, -1 to 1; None if a task is hidden.

        If no task has an official score, the mean is over all tasks on which every model has a value.
        """
        tasks = [task for task in self.tasks.values() if self.score is None or task.official is not None]
        return None if self.rounded else _mean(task.kendall for task in tasks)

    @property
    def seconds_per_model(self) -> float | None:
        """Median wall time of a call in seconds, over all public tasks; None without calls."""
        return median_seconds([call for task in self.tasks.values() for call in task.calls.values()])

    @property
    def calls_expected(self) -> int:
        """Number of models of all tasks of the row."""
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
    def public_failures(self) -> Counter[str]:
        """Outcome -> number of models without a value, over the tasks that are not hidden."""
        return sum((task.failures for task in self.tasks.values() if not task.withheld), Counter())

    @property
    def rounded(self) -> tuple[str, ...]:
        """The names of the hidden tasks. Scores on them, and final scores that include them, are rounded."""
        return tuple(sorted(name for name, task in self.tasks.items() if task.withheld))

    @property
    def reasons(self) -> dict[str, list[str]]:
        """Reason -> tasks that have no score for this reason."""
        tasks: dict[str, list[str]] = {}
        for name, task in self.tasks.items():
            if task.reason:
                tasks.setdefault(task.reason, []).append(name)
        return tasks

    @property
    def reason(self) -> str:
        """One line with each task that has no score, and the reason; empty if all tasks have a score."""
        return "; ".join(f"{', '.join(names)}: {reason}" for reason, names in self.reasons.items())


def make_row(
    calls: Calls, result: SubmissionScore, references: Mapping[str, Reference], withheld: Collection[str]
) -> Row:
    """Return the row of a submission's calls, without a rank. In the row, `result` is rounded if tasks are hidden."""
    shown = rounded(result, withheld)
    return Row(
        rank=None,
        submission=calls.submission,
        kind="baseline" if calls.is_baseline else "submission",
        result=shown,
        tasks={
            task: _on_task(calls, task, reference, shown.tasks[task], is_hidden=task in withheld)
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


def _on_task(calls: Calls, task: str, reference: Reference, result: TaskScore | str, *, is_hidden: bool) -> OnTask:
    # Sorted as the records of a site, so that both give failures in the same order.
    records = {model: record for (name, model), record in sorted(calls.rows.items(), key=_cell) if name == task}
    failures = Counter(str(call.outcome) for call in records.values() if isinstance(value_of(call), Failure))
    n_models = len(reference.models)
    if len(records) < n_models:
        failures[MISSING] = n_models - len(records)
    if is_hidden:
        return OnTask(task, result, n_models, failures, {}, withheld=True)
    return OnTask(task, result, n_models, failures, records, scored=calls.on(task, reference))


def _cell(recorded: tuple[Cell, CallRecord]) -> Cell:
    return recorded[0]


def labelled(submission: str, settings: str, *, sandboxed: bool) -> str:
    """Return the name with its marks, such as `name (seed 1, not sandboxed)`; the name alone if it has no marks."""
    marks = [mark for mark in (settings, "" if sandboxed else "not sandboxed") if mark]
    return f"{submission} ({', '.join(marks)})" if marks else submission


def _mean(numbers: Iterable[float | None]) -> float | None:
    known = [number for number in numbers if number is not None]
    return statistics.fmean(known) if known else None
