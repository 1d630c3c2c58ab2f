"""Selections from a task: models by name, or a number of models from the smallest to the largest; a part of the data.

The part of the training data has examples at even distances, in their order.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from harness.errors import UserError
from harness.hints import did_you_mean
from harness.task.data import INPUTS, LABELS, TrainingData
from harness.task.model import Model
from harness.task.task import Task

#: A number of models, or their names; None for all.
ModelSelection = int | tuple[str, ...] | None

T = TypeVar("T")


def select_models(task: Task, wanted: ModelSelection) -> tuple[Model, ...]:
    """Return the wanted models of a task: the smallest first if a number is given, otherwise in the task's order."""
    if wanted is None:
        return task.models
    if not isinstance(wanted, int):
        return tuple(model for model in task.models if model.id in wanted)
    return tuple(evenly(sorted(task.models, key=size_of), wanted))


def evenly(ordered: Sequence[T], number: int) -> list[T]:
    """Return `number` evenly spaced elements of a sequence, including first and last for two or more; at most all."""
    positions = np.linspace(0, len(ordered) - 1, min(number, len(ordered))).round().astype(int)
    return [ordered[position] for position in positions]


def require_known(tasks: Sequence[Task], wanted: ModelSelection) -> None:
    """Raise `UserError` for a name that no model of the tasks has."""
    known = [model.id for task in tasks for model in task.models]
    for unknown in (name for name in wanted if name not in known) if isinstance(wanted, tuple) else ():
        where = ", ".join(task.name for task in tasks)
        hint = did_you_mean(unknown, known) or "pgdl task show lists them"
        raise UserError(f"--models: no model {unknown!r} in {where}", remedy=hint)


def size_of(model: Model) -> tuple[int, str]:
    """Return the key by which models are ordered from the smallest to the largest."""
    return model.n_parameters, model.id


@dataclass(frozen=True)
class PartOfData(TrainingData):
    """A part of training data for a sandbox; the digest depends on the number of examples."""

    number: int  #: of the examples
    whole: TrainingData

    @cached_property
    def inputs(self) -> NDArray[np.float32]:
        """The inputs."""
        return self.whole.inputs[self._chosen]

    @cached_property
    def labels(self) -> NDArray[np.int32]:
        """The labels."""
        return self.whole.labels[self._chosen]

    @property
    def _chosen(self) -> NDArray[np.intp]:
        return np.linspace(0, self.whole.n_samples - 1, self.number).round().astype(np.intp)

    def write_canonical(self, directory: Path) -> None:
        """Write inputs.npy and labels.npy of the part."""
        np.save(directory / INPUTS, self.inputs)
        np.save(directory / LABELS, self.labels)


def select_examples(task: Task, number: int) -> Task:
    """Return a task with `number` of its training examples."""
    data = task.data
    digest = hashlib.sha256(f"{number} examples of {data.digest}".encode()).hexdigest()
    return replace(task, data=PartOfData(data.source, data.directory, digest, number, data))
