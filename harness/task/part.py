"""A part of a task's training data: examples at even distances, in their order."""

import hashlib
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from harness.task.data import TrainingData
from harness.task.decoding import INPUTS, LABELS
from harness.task.task import Task


@dataclass(frozen=True)
class PartOfData(TrainingData):
    """Training data of which a sandbox is given some examples only; the digest tells how many."""

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


def with_part(task: Task, number: int) -> Task:
    """Return a task with so many of its training examples."""
    data = task.data
    digest = hashlib.sha256(f"{number} examples of {data.digest}".encode()).hexdigest()
    return replace(task, data=PartOfData(data.source, data.directory, digest, number, data))
