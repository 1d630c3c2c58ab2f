"""Scores as text for readers, and as dictionaries for JSON."""

from typing import Any

from scoring import SubmissionScore, TaskScore


def official(result: TaskScore | str, decimals: int) -> str:
    """Return a task's official score, 0 to 100, as text; `failed` if a model has no value, a dash without a score."""
    if isinstance(result, str):
        return "failed"
    return "-" if result.official is None else f"{100 * result.official:.{decimals}f}"


def decimal(number: float | None, digits: int) -> str:
    """Return a number with `digits` decimals, but never `-0.0`; a dash for None."""
    return "-" if number is None else f"{number:z.{digits}f}"


def percent(number: float | None) -> float | None:
    """Return 100 times a number without rounding errors: 29.5 for 0.295; None for None."""
    return None if number is None else round(100 * number, 12)


def score_object(result: SubmissionScore) -> dict[str, Any]:
    """Return a submission's score as a dictionary for JSON: `score`, `complete`, `exceeded` and `tasks`.

    A task has the fields of `TaskScore`, or only the field `failed` with the reason why it has no score. Conditional
    mutual information is 0 to 100, correlations are -1 to 1.
    """
    return {
        "score": result.score,
        "complete": result.complete,
        "exceeded": result.exceeded,
        "tasks": {
            name: _task_object(task) if isinstance(task, TaskScore) else {"failed": task}
            for name, task in result.tasks.items()
        },
    }


def _task_object(task: TaskScore) -> dict[str, Any]:
    parts = {
        name: {" x ".join(key) or "none": percent(value) for key, value in getattr(task, name).items()}
        for name in ("official_pairs", "printed_subsets")
    }
    return vars(task) | parts | {"official": percent(task.official), "printed": percent(task.printed)}
