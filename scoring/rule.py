"""The competition's rule: from the calls of a submission to its final score, and the order of a board."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from scoring.grid import Grid
from scoring.official import has_official_score
from scoring.task_score import TaskScore, score_task

RULE = (
    "The final score is 100 times the mean official score of the scored tasks; "
    "a call over its time budget makes the final score 0, and a task with any other failed or missing call "
    "has no score and is left out of the mean. "
    "A submission with a task left out ranks below every complete one. "
    "A task on which nobody can have an official score does not count."
)
"""The rule as boards print it. The last two sentences are rules of this project, the others are the competition's."""


@dataclass(frozen=True)
class Failure:
    """The failure of a call that gave no value."""

    outcome: str  #: the kind of failure, such as "out_of_memory"
    exceeded: bool = False  #: whether the call was over its time budget


@dataclass(frozen=True)
class TaskCalls:
    """The results of a submission's calls on the models of a task, and the task's reference data."""

    grid: Grid  #: the hyperparameters of all models of the task
    gap: Mapping[str, float]  #: model -> train accuracy minus test accuracy
    values: Mapping[str, float | Failure]  #: model -> the measure's value or failure; a missing model was not called


@dataclass(frozen=True)
class SubmissionScore:
    """The result of a submission under `RULE`."""

    score: float | None  #: final score, 0 to 100; None if no task has an official score
    tasks: dict[str, TaskScore | str]  #: task -> its scores, or why it has no scores; in alphabetical order
    complete: bool  #: whether all tasks that can have an official score have it
    exceeded: bool  #: whether a call on such a task was over its time budget


def score_submission(tasks: Mapping[str, TaskCalls]) -> SubmissionScore:
    """Return the result of a submission's calls (task -> calls) under `RULE`.

    Tasks are scored in alphabetical order. If a call is over its time budget, its task and all later tasks get no
    score, and the final score is 0. A value that is not finite is a failed call. Failed calls on a task that can have
    no official score change neither the final score nor the other tasks.

    Raises:
        ValueError: a value or gap belongs to no model of the grid, or a gap is missing or not finite.
    """
    results: dict[str, TaskScore | str] = {}
    exceeded_in: str | None = None
    for task, calls in sorted(tasks.items()):
        _require_models(task, calls)
        late = any(isinstance(value, Failure) and value.exceeded for value in calls.values.values())
        if exceeded_in is None and late and has_official_score(calls.grid):
            exceeded_in = task
        results[task] = _score(calls) if exceeded_in is None else _skipped(task, exceeded_in, calls)
    score = 0.0 if exceeded_in is not None else mean_score(results.values())
    complete = all(isinstance(results[task], TaskScore) for task in tasks if has_official_score(tasks[task].grid))
    return SubmissionScore(score, results, complete, exceeded_in is not None)


def mean_score(results: Iterable[TaskScore | str], decimals: int = 12) -> float | None:
    """Return 100 times the mean official score over the tasks that have an official score; None without such a task.

    The result is rounded, by default to remove rounding errors. The sum is multiplied by 100 before the division, so
    that the mean of already rounded scores is rounded correctly even halfway between two numbers.
    """
    scores = [result.official for result in results if isinstance(result, TaskScore) and result.official is not None]
    if not scores:
        return None
    return round(100 * sum(scores) / len(scores), decimals)


def _score(calls: TaskCalls) -> TaskScore | str:
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
    return score_task(measure, [calls.gap[model] for model in calls.grid.models], calls.grid)


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
    models = set(calls.grid.models)
    for what, given in (("value", calls.values), ("gap", calls.gap)):
        if unknown := sorted(set(given) - models):
            raise ValueError(f"task {task!r}: {what} of a model that is not in the grid: {', '.join(unknown)}")
    if missing := [m for m in calls.grid.models if not math.isfinite(calls.gap.get(m, math.nan))]:
        raise ValueError(f"task {task!r}: no finite gap for {', '.join(missing)}")


@dataclass(frozen=True)
class Entry:
    """A submission on a board."""

    name: str
    score: float | None  #: higher is better; None, or a number that is not finite, if there is no score
    complete: bool  #: whether every task that can have an official score has it
    eligible: bool = True  #: whether the entry gets a rank; False, for example, if it ran without a sandbox


@dataclass(frozen=True)
class Ranked:
    """An entry and its rank."""

    entry: Entry
    rank: int | None  #: 1 for the best entry; equal entries share a rank; None for an entry that is not eligible
    position: int = field(default=0, compare=False)  #: position of the entry among the given entries, from 0


def rank(entries: Iterable[Entry]) -> list[Ranked]:
    """Rank entries; return them best first.

    Complete entries come first, then incomplete entries, then entries without a score, then entries that are not
    eligible. Within each kind, the order is by descending score, then by name, and entries with equal scores share a
    rank, as in 1, 2, 2, 4. Entries that are not eligible have no rank.
    """
    ordered = sorted(enumerate(entries), key=lambda pair: (_standing(pair[1]), pair[1].name))
    first: dict[tuple[bool, bool, bool, float], int] = {}  # standing -> rank of all entries that have it
    for place, (_, entry) in enumerate(ordered, start=1):
        first.setdefault(_standing(entry), place)
    return [Ranked(one, first[_standing(one)] if one.eligible else None, number) for number, one in ordered]


def _standing(entry: Entry) -> tuple[bool, bool, bool, float]:
    if entry.score is None or not math.isfinite(entry.score):
        return (not entry.eligible, True, True, 0.0)
    return (not entry.eligible, False, not entry.complete, -entry.score)
