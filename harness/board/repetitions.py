"""Repetitions of calls with other seeds (`--repeat`): the standard error that they show, and remarks on them."""

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

from harness.board.collect import Calls, Cell, repeats_of, value_of
from harness.board.on_task import counted
from harness.board.scores import percent
from harness.format.reference import Reference
from harness.task.task_notes import abbreviated
from scoring import Failure, ScoreUndefined, Stability, SubmissionScore, TaskScore, measure_stability

if TYPE_CHECKING:
    from harness.records import Record

Value = float | Failure


@dataclass(frozen=True)
class OwnRandomness:
    """The spread of a submission's scores over seeds."""

    tasks: Mapping[str, Stability]  #: task -> spread of the official score, for public tasks with repetitions
    error: float | None  #: standard error of the final score over seeds, in points; None if not known


def own_randomness(
    calls: Calls, result: SubmissionScore, references: Mapping[str, Reference], withheld: Collection[str]
) -> OwnRandomness | None:
    """Return the spread of a submission's scores over seeds; None without repetitions on public tasks.

    `result` is the score of the calls. If there are hidden tasks (`withheld`), the final score has no spread.
    """
    tasks = {task: _on_task(calls, task, reference) for task, reference in references.items() if task not in withheld}
    known = {task: stability for task, stability in tasks.items() if stability is not None}
    if not known:
        return None
    return OwnRandomness(known, None if withheld else _final_error(result, known))


def _on_task(calls: Calls, task: str, reference: Reference) -> Stability | None:
    values = calls.on(task, reference).values
    counting = [value for model in reference.grid.models if isinstance(value := values.get(model), float)]
    repeats = _equally_often(
        {
            model: [value for value in others if not isinstance(value, Failure)]
            for (name, model), others in calls.repeats.items()
            if name == task
        }
    )
    if not repeats or len(counting) < len(reference.grid.models):
        return None
    gaps = [reference.gaps[model] for model in reference.grid.models]
    try:
        return measure_stability(counting, gaps, reference.grid, repeats)
    except ScoreUndefined:
        return None


def _equally_often(repeats: Mapping[str, list[float]]) -> dict[str, list[float]]:
    """Choose models, and take the same number of repetitions of each, so that as many values as possible are used."""
    lengths = {len(values) for values in repeats.values()} - {0}
    if not lengths:
        return {}
    used = max(lengths, key=lambda length: (length * sum(len(values) >= length for values in repeats.values()), length))
    return {model: values[:used] for model, values in repeats.items() if len(values) >= used}


def _final_error(result: SubmissionScore, tasks: Mapping[str, Stability]) -> float | None:
    """Return the standard error of the final score over seeds, in points; None if a scored task lacks repetitions."""
    scored = [name for name, task in result.tasks.items() if isinstance(task, TaskScore) and task.official is not None]
    if result.exceeded or not scored or not set(scored) <= set(tasks):
        return None
    return percent(math.hypot(*(tasks[name].error for name in scored)) / len(scored))


def own_randomness_object(found: OwnRandomness | None) -> dict[str, Any] | None:
    """Return the spread as a dictionary for JSON, with errors in points; None for an unknown spread."""
    if found is None:
        return None
    tasks = {
        name: {"error": percent(task.error), "models": task.n_repeated, "unsteady": task.n_unsteady}
        for name, task in found.tasks.items()
    }
    return {"error": found.error, "tasks": tasks}


def describe(found: OwnRandomness) -> list[str]:
    """Return lines for readers: the spread on each task, and of the final score if there are several tasks."""
    lines = [
        f"{name}: own randomness: ±{percent(task.error):.1f} points; {task.n_unsteady} of {task.n_repeated} models "
        "called again gave another value"
        for name, task in found.tasks.items()
    ]
    if len(found.tasks) > 1 and found.error is not None:
        lines.append(f"final score: own randomness: ±{found.error:.1f} points")
    return lines


def remarks_on(shown: Sequence[Calls], withheld: Collection[str]) -> list[str]:
    """Return remarks on repetitions, one per line; they name no model or outcome of the hidden tasks `withheld`."""
    lines = []
    for calls in shown:
        lines += _failed(calls, withheld)
        if calls.deterministic:
            values = {cell: value_of(row) for cell, row in calls.rows.items()}
            lines += _varying(calls.submission, values, calls.repeats, withheld)
    return lines


def not_deterministic(
    records: Iterable["Record"], deterministic: Collection[str], withheld: Collection[str]
) -> list[str]:
    """Return a remark on each submission that claims to be deterministic, but returned two values for one model."""
    rows: dict[str, list[Record]] = {name: [] for name in deterministic}
    for row in records:
        if row.submission in rows:
            rows[row.submission].append(row)
    lines = []
    for name, of_submission in rows.items():
        values = {(row.task, row.model): value_of(row) for row in of_submission if not row.repeat}
        lines += _varying(name, values, repeats_of(of_submission), withheld)
    return lines


def _failed(calls: Calls, withheld: Collection[str]) -> list[str]:
    failures: dict[str, dict[str, list[str]]] = {}
    for (task, model), values in sorted(calls.repeats.items()):
        if task not in withheld:
            for value in values:
                if isinstance(value, Failure):
                    failures.setdefault(task, {}).setdefault(model, []).append(value.outcome)
    return [
        f"{calls.submission} on {task}: failed repetitions, which affect no score: "
        f"{counted(Counter(chain(*models.values())))}, on {abbreviated(list(models))}"
        for task, models in failures.items()
    ]


def _varying(
    name: str, values: Mapping[Cell, Value], repeats: Mapping[Cell, Sequence[Value]], withheld: Collection[str]
) -> list[str]:
    """Return a remark on the first model with different values, or []. A model of a hidden task is not named."""
    says = f"{name} calls itself deterministic (metadata), but"
    secret = []
    for cell, others in repeats.items():
        task, model = cell
        found = list(dict.fromkeys(value for value in (values.get(cell), *others) if isinstance(value, float)))
        if len(found) < 2:
            continue
        if task not in withheld:
            return [f"{says} another seed gave another value: {found[0]!r} and {found[1]!r} on {task}/{model}"]
        secret = [f"{says} another seed gave another value on a withheld task"]
    return secret
