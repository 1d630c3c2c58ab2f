"""Measures beside each other as data: one row per measure, best first, whatever became of its calls."""

import statistics
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from harness.board.collect import Call, Calls, collect, value_of
from harness.board.rounding import rounded
from harness.task.reference import Reference
from scoring import Entry, Failure, SubmissionScore, TaskScore, rank, score_submission

#: The outcome of a call that was never made.
MISSING = "missing"


@dataclass(frozen=True)
class OnTask:
    """What became of a measure on one task."""

    score: TaskScore | None  #: rounded where the task is withheld; None if a model has no value
    reason: str  #: why there is no score; empty if there is one
    seconds_per_model: float | None  #: median wall time of a call; None without calls, or where it is withheld
    n_models: int
    failures: Counter[str]  #: outcome -> number of models without a value
    withheld: bool  #: whether no more of the task is shown than its rounded scores and the failures


@dataclass(frozen=True)
class MeasureRow:
    """One measure on all tasks."""

    rank: int | None  #: None: not sandboxed
    measure: str  #: as it was asked for, parameters included
    family: str
    score: float | None  #: 100 times the mean official score of the tasks that have one; None if none has
    complete: bool  #: whether every task has a score
    sandboxed: bool
    seconds_per_model: float | None  #: median wall time of a call over all tasks that are not withheld
    tasks: Mapping[str, OnTask]

    @property
    def kendall(self) -> float | None:
        """Mean of Kendall's rank correlation over the tasks that have a score, -1 to 1."""
        found = [task.score.kendall for task in self.tasks.values() if task.score is not None]
        return statistics.fmean(found) if found else None

    @property
    def failures(self) -> Counter[str]:
        """Outcome -> number of models without a value, over all tasks."""
        return sum((task.failures for task in self.tasks.values()), Counter())

    @property
    def n_models(self) -> int:
        """Number of models of all tasks."""
        return sum(task.n_models for task in self.tasks.values())

    @property
    def reason(self) -> str:
        """Why tasks have no score, in one line; empty if all have one."""
        tasks: dict[str, list[str]] = {}
        for name, task in self.tasks.items():
            if task.reason:
                tasks.setdefault(task.reason, []).append(name)
        return "; ".join(f"{', '.join(names)}: {reason}" for reason, names in tasks.items())


def compare(
    evaluations: Iterable[Any],
    references: Mapping[str, Reference],
    families: Mapping[str, str],
    withheld: Collection[str] = (),
) -> list[MeasureRow]:
    """Return a row for every measure, best first.

    Other than under the competition's rule every task is scored for itself: a measure that is over its time in
    one task still has its scores on the others. A measure without a score on some task stands below all that
    have one on each; one without any score below these.

    Args:
        evaluations: the records of the calls that were asked for, oldest first.
        references: task -> reference data.
        families: measure, as it was asked for -> its family. Records of other submissions do not matter.
        withheld: tasks whose scores are rounded, and of which times and reasons are not shown.
    """
    collected = {calls.submission: calls for calls in collect(evaluations, references).shown}
    rows = {}
    for measure, family in families.items():
        calls = collected.get(measure, Calls(measure, True, {}))
        rows[measure] = _row(calls, family, references, withheld)
    entries = [Entry(row.measure, row.score, row.complete, row.sandboxed) for row in rows.values()]
    return [replace(rows[ranked.entry.name], rank=ranked.rank) for ranked in rank(entries)]


def counted(failures: Counter[str]) -> str:
    """Return for instance `2 TIMEOUT, 1 CRASH`, the most frequent first."""
    return ", ".join(f"{number} {outcome}" for outcome, number in failures.most_common())


def _row(calls: Calls, family: str, references: Mapping[str, Reference], withheld: Collection[str]) -> MeasureRow:
    results = {task: score_submission({task: calls.on(task, known)}).tasks[task] for task, known in references.items()}
    scored = [score for score in results.values() if isinstance(score, TaskScore)]
    official = [score.official for score in scored if score.official is not None]
    mean = 100 * statistics.fmean(official) if official else None
    result = rounded(SubmissionScore(mean, results, len(scored) == len(results), exceeded=False), withheld)
    made = {task: [call for (of, _), call in calls.rows.items() if of == task] for task in references}
    return MeasureRow(
        rank=None,
        measure=calls.submission,
        family=family,
        score=result.score,
        complete=result.complete,
        sandboxed=calls.sandboxed,
        seconds_per_model=_median([call for task in references if task not in withheld for call in made[task]]),
        tasks={
            task: _on_task(result.tasks[task], made[task], len(reference.models), withheld=task in withheld)
            for task, reference in references.items()
        },
    )


def _on_task(result: TaskScore | str, calls: Sequence[Call], n_models: int, *, withheld: bool) -> OnTask:
    failed = [call for call in calls if isinstance(value_of(call), Failure)]
    failures = Counter(call.outcome for call in failed)
    if len(calls) < n_models:
        failures[MISSING] = n_models - len(calls)
    seconds = None if withheld else _median(calls)
    if isinstance(result, TaskScore):
        return OnTask(result, "", seconds, n_models, failures, withheld)
    message = next((call.message for call in failed if call.message), "")
    reason = f"{counted(failures)}: {message}" if message else counted(failures)
    return OnTask(None, result if withheld else reason, seconds, n_models, failures, withheld)


def _median(calls: Sequence[Call]) -> float | None:
    return statistics.median(call.call_wall_s for call in calls) if calls else None
