"""The scores of a submission under shorter time limits, and the Pareto front of cost and score."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from scoring.rule import Failure, TaskCalls, score_submission

TimeBudget = Literal["each", "average"]
"""Whether a time limit applies to each call, or, as in the competition, to the mean time over a task's models."""

Seconds = Mapping[str, Mapping[str, float]]
"""Task -> model -> wall time of the call."""


@dataclass(frozen=True)
class TimeStep:
    """A submission's score, and the tasks within the limit, for all time limits from `limit_s` up to the next step."""

    limit_s: float  #: smallest limit of the step, in seconds; a call that takes exactly so long is within it
    score: float | None  #: final score, 0 to 100; None if no task has an official score
    within: tuple[str, ...]  #: tasks within the limit, in alphabetical order


def scores_by_limit(tasks: Mapping[str, TaskCalls], seconds: Seconds, budget: TimeBudget = "each") -> list[TimeStep]:
    """Score a submission under every time limit, from the recorded times of its calls; return steps by rising limit.

    A task over the limit makes the final score 0 (`scoring.rule`). So the score changes only at the limit that the
    slowest task needs; earlier steps show which tasks are within the limit. A call that was stopped at its original
    limit exceeds every limit, since its full duration is unknown.

    Args:
        tasks: task -> its calls.
        seconds: task -> model -> wall time of the call, for all models that were called.
        budget: "each" applies the limit to each call, "average" to the mean over a task's models.

    Raises:
        ValueError: a task or model of `seconds` is not in `tasks`, or a time is negative or not finite.
    """
    needed = {task: _needed(task, calls, seconds.get(task, {}), budget) for task, calls in sorted(tasks.items())}
    if unknown := sorted(seconds.keys() - tasks.keys()):
        raise ValueError(f"seconds: expected tasks of the submission, found {', '.join(unknown)}")
    limits = sorted({0.0, *(limit for limit in needed.values() if math.isfinite(limit))})
    return [_step(limit, tasks, needed) for limit in limits]


def pareto_front(costs: Sequence[float], scores: Sequence[float | None]) -> list[bool]:
    """Return whether each submission is on the Pareto front of cost and score: whether no other submission is better.

    A submission is better if its cost is not higher and its score is not lower, and they are not both equal. A
    submission whose score is None or not finite is never on the front.

    Raises:
        ValueError: different lengths, or a cost that is not finite.
    """
    if len(costs) != len(scores):
        raise ValueError(f"costs and scores: expected the same length, found {len(costs)} and {len(scores)}")
    if not all(map(math.isfinite, costs)):
        raise ValueError("costs: expected finite numbers")
    cost = np.asarray(costs, np.float64)
    known = np.array([value is not None and math.isfinite(value) for value in scores], np.bool_)
    score = np.where(known, np.array(scores, np.float64), -math.inf)
    no_worse = (cost[:, None] <= cost) & (score[:, None] >= score)
    better = (cost[:, None] < cost) | (score[:, None] > score)
    front: list[bool] = (known & ~np.any(no_worse & better, axis=0)).tolist()
    return front


def _needed(task: str, calls: TaskCalls, seconds: Mapping[str, float], budget: TimeBudget) -> float:
    if unknown := sorted(set(seconds) - set(calls.grid.models)):
        raise ValueError(f"seconds, task {task!r}: expected models of the grid, found {', '.join(unknown)}")
    if not all(math.isfinite(time) and time >= 0 for time in seconds.values()):
        raise ValueError(f"seconds, task {task!r}: expected finite times of 0 or more")
    if any(isinstance(value, Failure) and value.exceeded for value in calls.values.values()):
        return math.inf
    if budget == "average":
        return math.fsum(seconds.values()) / len(calls.grid.models)
    return max(seconds.values(), default=0.0)


def _step(limit: float, tasks: Mapping[str, TaskCalls], needed: Mapping[str, float]) -> TimeStep:
    within = tuple(task for task, least in needed.items() if least <= limit)
    kept = {task: calls if task in within else _exceeded(calls) for task, calls in tasks.items()}
    return TimeStep(limit, score_submission(kept).score, within)


def _exceeded(calls: TaskCalls) -> TaskCalls:
    failure = Failure("over the time limit", exceeded=True)
    return TaskCalls(calls.grid, calls.gap, dict.fromkeys(calls.grid.models, failure))
