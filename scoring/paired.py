"""The values of several submissions on the same models, for paired comparisons."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from scoring.conditioning import Conditioning, conditioning
from scoring.errors import ScoreUndefined
from scoring.grid import Grid
from scoring.official import has_official_score
from scoring.rule import Failure, TaskCalls
from scoring.vectors import Vector


@dataclass(frozen=True, eq=False)
class PairedTask:
    """The values of several submissions on a task that has an official score."""

    grid: Grid  #: the task's hyperparameters
    gap: Vector  #: generalization gap of each model, shape (n_models,)
    measures: NDArray[np.float64]  #: values of each submission, shape (n_submissions, n_models)

    @property
    def conditioning(self) -> Conditioning:
        """The cells of pairs of models from which the official score is computed."""
        return conditioning(self.grid)


@dataclass(frozen=True)
class Paired:
    """The submissions of a board, finished and unfinished, and the values of the finished submissions."""

    finished: tuple[str, ...]  #: submissions with a finite value for every model of `tasks`
    unfinished: tuple[str, ...]  #: submissions that lack a value for a model
    tasks: Mapping[str, PairedTask]  #: task -> values of `finished`; tasks without an official score are left out


def pair_submissions(submissions: Mapping[str, Mapping[str, TaskCalls]]) -> Paired:
    """Collect the values of all submissions that have a finite value for every model of every scored task.

    `submissions` maps submission -> task -> its calls; all have the same tasks, grids and gaps.

    Raises:
        ScoreUndefined: every submission lacks a value, or no task has an official score.
        ValueError: submissions differ in tasks, grids or gaps, or a gap is not finite.
    """
    finished = tuple(name for name, tasks in submissions.items() if tasks and all(map(_is_finished, tasks.values())))
    if not finished:
        raise ScoreUndefined(f"comparison: expected a finished submission, found none among {len(submissions)}")
    expected = submissions[finished[0]]
    for name in finished:
        _require_same_tasks(name, submissions[name], finished[0], expected)
    tasks = {
        task: _paired_task(calls, [submissions[name][task] for name in finished])
        for task, calls in sorted(expected.items())
        if has_official_score(calls.grid)
    }
    if not tasks:
        raise ScoreUndefined(f"comparison: expected a task with an official score, found none among {len(expected)}")
    return Paired(finished, tuple(name for name in submissions if name not in finished), tasks)


def _is_finished(calls: TaskCalls) -> bool:
    """Return whether every model has a finite value; true for a task without an official score."""
    if not has_official_score(calls.grid):
        return True
    values = [calls.values.get(model, math.nan) for model in calls.grid.models]
    return all(not isinstance(value, Failure) and math.isfinite(value) for value in values)


def _require_same_tasks(
    name: str, tasks: Mapping[str, TaskCalls], other: str, expected: Mapping[str, TaskCalls]
) -> None:
    if tasks.keys() != expected.keys():
        found, wanted = (", ".join(sorted(names)) for names in (tasks, expected))
        raise ValueError(f"submission {name!r}: expected the tasks of {other!r} ({wanted}), found {found}")
    for task, calls in tasks.items():
        grid, same = calls.grid, expected[task].grid
        if grid is not same and (
            grid.models != same.models or grid.values != same.values or (grid.codes != same.codes).any()
        ):
            raise ValueError(f"submission {name!r}, task {task!r}: expected the grid of {other!r}, found another")
        if calls.gap is not expected[task].gap and dict(calls.gap) != dict(expected[task].gap):
            raise ValueError(f"submission {name!r}, task {task!r}: expected the gaps of {other!r}, found others")


def _paired_task(reference: TaskCalls, calls: list[TaskCalls]) -> PairedTask:
    models = reference.grid.models
    gap = np.array([reference.gap[model] for model in models], dtype=np.float64)
    if not np.isfinite(gap).all():
        raise ValueError(f"gap: expected finite numbers, found {gap[~np.isfinite(gap)][0]}")
    measures = np.array([[each.values[model] for model in models] for each in calls], dtype=np.float64)
    return PairedTask(reference.grid, gap, measures)
