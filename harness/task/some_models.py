"""Some of a task's models: by name, or a number of them from the smallest to the largest."""

from collections.abc import Sequence
from typing import TypeVar

import numpy as np

from harness.errors import UserError
from harness.hints import did_you_mean
from harness.task.model import Model
from harness.task.task import Task

#: A number of models, or their names; None for all.
Wanted = int | tuple[str, ...] | None

T = TypeVar("T")


def some_models(task: Task, wanted: Wanted) -> tuple[Model, ...]:
    """Return the wanted models of a task: the smallest first if a number is given, otherwise in the task's order."""
    if wanted is None:
        return task.models
    if not isinstance(wanted, int):
        return tuple(model for model in task.models if model.id in wanted)
    return tuple(evenly(sorted(task.models, key=size_of), wanted))


def evenly(ordered: Sequence[T], number: int) -> list[T]:
    """Return some of a sequence, first and last among them if there are two; all if there are no more."""
    positions = np.linspace(0, len(ordered) - 1, min(number, len(ordered))).round().astype(int)
    return [ordered[position] for position in positions]


def require_known(tasks: Sequence[Task], wanted: Wanted) -> None:
    """Raise `UserError` for a name that no model of the tasks has."""
    known = [model.id for task in tasks for model in task.models]
    for unknown in (name for name in wanted if name not in known) if isinstance(wanted, tuple) else ():
        where = ", ".join(task.name for task in tasks)
        hint = did_you_mean(unknown, known) or "pgdl task show lists them"
        raise UserError(f"--models: no model {unknown!r} in {where}", remedy=hint)


def size_of(model: Model) -> tuple[int, str]:
    """Return the key by which models are ordered from the smallest to the largest."""
    return model.n_parameters, model.id
