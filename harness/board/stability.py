"""The standard error of scores that comes from a measure's own random draws, estimated from repetitions."""

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from harness.board.collect import Calls
from harness.board.scores import percent
from harness.format.reference import Reference
from scoring import Failure, ScoreUndefined, Stability, SubmissionScore, TaskScore, measure_stability


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
    """Choose models, and the same number of repetitions for each, so that as many values as possible are used."""
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
    """Return the spread as a dictionary for JSON, with errors in points; None if it is not known."""
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
