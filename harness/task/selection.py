"""Selects models of a task, by name or evenly by size, and evenly spaced examples of its training data."""

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
from harness.names import as_names
from harness.task.data import INPUTS, LABELS, TrainingData
from harness.task.model import Model
from harness.task.task import Task
from harness.task.task_notes import abbreviated

#: A number of models, their names, or one name; None for all models.
ModelSelection = int | Sequence[str] | None

T = TypeVar("T")


def select_models(task: Task, wanted: ModelSelection) -> tuple[Model, ...]:
    """Return the models named in `wanted`; for a number, that many models, evenly spread by size; for None, all."""
    if wanted is None:
        return task.models
    if not isinstance(wanted, int):
        return tuple(model for model in task.models if model.id in as_names(wanted))
    return tuple(evenly(sorted(task.models, key=size_of), wanted))


def evenly(ordered: Sequence[T], number: int) -> list[T]:
    """Return `number` elements, evenly spaced from the first to the last; all elements if there are fewer."""
    positions = np.linspace(0, len(ordered) - 1, min(number, len(ordered))).round().astype(int)
    return [ordered[position] for position in positions]


def require_known(tasks: Sequence[Task], wanted: ModelSelection) -> None:
    """Raise `UserError` if `wanted` selects no model, or has a name that no model of the tasks has."""
    require_some(wanted)
    names = () if wanted is None or isinstance(wanted, int) else as_names(wanted)
    known = [model.id for task in tasks for model in task.models]
    for unknown in (name for name in names if name not in known):
        where = ", ".join(task.name for task in tasks)
        expected = f"some of {abbreviated(list(dict.fromkeys(known)))}"
        remedy = did_you_mean(unknown, known)
        raise UserError(f"--models: no model {unknown!r} in {where}", expected=expected, remedy=remedy)


def require_some(wanted: ModelSelection) -> None:
    """Raise `UserError` if `wanted` selects no model."""
    if wanted is not None and (wanted if isinstance(wanted, int) else len(wanted)) < 1:
        raise UserError("models", expected="1 model or more", found=repr(wanted))


def size_of(model: Model) -> tuple[int, str]:
    """Return a sort key for models from small to large: number of parameters, then id."""
    return model.n_parameters, model.id


@dataclass(frozen=True)
class PartOfData(TrainingData):
    """Evenly spaced examples of training data. The digest differs from that of all data."""

    number: int  #: number of selected examples
    whole: TrainingData  #: all examples

    @cached_property
    def inputs(self) -> NDArray[np.float32]:
        """The selected inputs (number, *input_shape)."""
        return self.whole.inputs[self._chosen]

    @cached_property
    def labels(self) -> NDArray[np.int32]:
        """The selected labels (number,)."""
        return self.whole.labels[self._chosen]

    @property
    def _chosen(self) -> NDArray[np.intp]:
        return np.linspace(0, self.whole.n_samples - 1, self.number).round().astype(np.intp)

    def write_canonical(self, directory: Path) -> None:
        """Write inputs.npy and labels.npy with the selected examples."""
        np.save(directory / INPUTS, self.inputs)
        np.save(directory / LABELS, self.labels)


def select_examples(task: Task, number: int) -> Task:
    """Return the task with only `number` evenly spaced training examples."""
    data = task.data
    digest = hashlib.sha256(f"{number} examples of {data.digest}".encode()).hexdigest()
    return replace(task, data=PartOfData(data.source, data.directory, digest, number, data))
