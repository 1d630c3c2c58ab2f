"""The competition's rule: from the calls of a submission to its final score, and the order of a board."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from scoring.errors import ScoreUndefined
from scoring.grid import Grid
from scoring.task_score import TaskScore, score_task

RULE = (
    "The final score is 100 times the mean official score of the scored tasks; "
    "a call over its time budget makes it 0, and a task with any other failed or missing call "
    "has no score and is left out of the mean. "
    "A submission with a task left out ranks below every complete one."
)
"""The whole rule, as boards print it; its last sentence is this project's, the rest is the competition's."""


@dataclass(frozen=True)
class Failure:
    """A call without a value."""

    outcome: str  #: the kind of failure, such as "out_of_memory"; the reason for a missing score names it
    exceeded: bool = False  #: whether the call was over its time budget


@dataclass(frozen=True)
class TaskCalls:
    """The results of a submission's calls on a task, beside the reference data."""

    grid: Grid  #: the task's hyperparameters; a call is expected for each of its models
    gap: Mapping[str, float]  #: model -> train accuracy minus test accuracy
    #: model -> the measure's value, or the failure. A model that is absent was not called.
    values: Mapping[str, float | Failure]


@dataclass(frozen=True)
class SubmissionScore:
    """The result of a submission under `RULE`."""

    score: float | None  #: final score, 0 to 100; None if no task has an official score
    tasks: dict[str, TaskScore | str]  #: task -> its scores, or the reason why there is no score; in alphabetical order
    complete: bool  #: whether there are tasks, and all tasks have a score
    exceeded: bool  #: whether a call was over its time budget


def score_submission(tasks: Mapping[str, TaskCalls]) -> SubmissionScore:
    """Apply `RULE` to a whole submission.

    Tasks are scored in alphabetical order. The first task with a call over its time budget and all later
    tasks are skipped, and the final score is 0. A value that is not finite counts as a failed call. The
    competition's program prints -0.999999 for a task without a score; here it has the reason in words.

    A task whose grid has no official score is left out of the mean for all submissions.

    Raises:
        ValueError: a value or gap belongs to no model of the grid, a gap is missing or not finite.
    """
    results: dict[str, TaskScore | str] = {}
    exceeded_in: str | None = None
    for task, calls in sorted(tasks.items()):
        _require_models(task, calls)
        if exceeded_in is None and any(isinstance(v, Failure) and v.exceeded for v in calls.values.values()):
            exceeded_in = task
        results[task] = _score(calls) if exceeded_in is None else _skipped(task, exceeded_in, calls)
    scored = [result for result in results.values() if isinstance(result, TaskScore)]
    score = 0.0 if exceeded_in is not None else mean_score(scored)
    complete = bool(results) and len(scored) == len(results)
    return SubmissionScore(score, results, complete, exceeded_in is not None)


def mean_score(results: Iterable[TaskScore | str], decimals: int | None = None) -> float | None:
    """Return 100 times the mean official score of the tasks that have an official score; None if no task has.

    With `decimals` the mean is rounded, for tasks whose scores are already rounded. The sum is multiplied by 100 before
    it is divided, because the order of operations decides how a mean halfway between two decimals is rounded.
    """
    scores = [result.official for result in results if isinstance(result, TaskScore) and result.official is not None]
    if not scores:
        return None
    return 100 * float(np.mean(scores)) if decimals is None else round(100 * sum(scores) / len(scores), decimals)


def _score(calls: TaskCalls) -> TaskScore | str:
    """Return the task's score, or the reason why it has no score."""
    measure: list[float] = []
    failed: dict[str, str] = {}
    for model in calls.grid.models:
        value = calls.values.get(model, Failure("missing"))
        if isinstance(value, Failure):
            failed[model] = value.outcome
        elif not math.isfinite(value):
            failed[model] = f"value {value}"
        else:
            measure.append(value)
    if failed:
        return _reason(failed, len(calls.grid.models))
    try:
        return score_task(measure, [calls.gap[model] for model in calls.grid.models], calls.grid)
    except ScoreUndefined as undefined:
        return str(undefined)


def _skipped(task: str, exceeded_in: str, calls: TaskCalls) -> str:
    if task != exceeded_in:
        return f"skipped: over the time budget in task {exceeded_in}"
    over = {m: v.outcome for m, v in calls.values.items() if isinstance(v, Failure) and v.exceeded}
    return "over the time budget: " + _reason(over, len(calls.grid.models))


def _reason(failed: Mapping[str, str], n_models: int) -> str:
    shown = [f"{model}: {outcome}" for model, outcome in list(failed.items())[:3]]
    more = ["..."] if len(failed) > len(shown) else []
    return f"{len(failed)} of {n_models} calls gave no value ({', '.join(shown + more)})"


def _require_models(task: str, calls: TaskCalls) -> None:
    """Raise `ValueError` for numbers of unknown models and for missing gaps: neither may be ignored silently."""
    models = set(calls.grid.models)
    for what, given in (("value", calls.values), ("gap", calls.gap)):
        if unknown := sorted(set(given) - models):
            raise ValueError(f"task {task!r}: {what} of a model that is not in the grid: {', '.join(unknown)}")
    if missing := [m for m in calls.grid.models if not math.isfinite(calls.gap.get(m, math.nan))]:
        raise ValueError(f"task {task!r}: no finite gap for {', '.join(missing)}")


@dataclass(frozen=True)
class Entry:
    """A submission on a board."""

    name: str  #: shown to the reader; orders entries of equal rank
    score: float | None  #: higher is better; None (or a number that is not finite) without a score
    complete: bool  #: whether every task has a score
    eligible: bool = True  #: whether the entry may be ranked (not, for instance, if it ran without the sandbox)


@dataclass(frozen=True)
class Ranked:
    """An entry and its rank: 1 is the best, equal entries share a rank; None for an entry that may not be ranked."""

    entry: Entry
    rank: int | None


def rank(entries: Iterable[Entry]) -> list[Ranked]:
    """Put entries in the order of the board, best first.

    Complete entries come first, then incomplete entries, then entries without a score, then entries that may not be
    ranked; each by descending score, then by name. Equal scores of equal standing share a rank, and the next rank
    counts them all: 1, 2, 2, 4.
    """
    ordered = sorted(entries, key=lambda entry: (_standing(entry), entry.name))
    ranked: list[Ranked] = []
    for position, entry in enumerate(ordered, start=1):
        if not entry.eligible:
            ranked.append(Ranked(entry, None))
        elif ranked and _standing(ranked[-1].entry) == _standing(entry):
            ranked.append(Ranked(entry, ranked[-1].rank))
        else:
            ranked.append(Ranked(entry, position))
    return ranked


def _standing(entry: Entry) -> tuple[bool, bool, bool, float]:
    """Return a sort key, smaller for better entries. Among entries without a score, completeness does not matter."""
    if entry.score is None or not math.isfinite(entry.score):
        return (not entry.eligible, True, True, 0.0)
    return (not entry.eligible, False, not entry.complete, -entry.score)
