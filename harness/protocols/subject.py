"""The models and data of a task that a protocol looks at, as files for the processes that run models."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from harness.errors import UserError
from harness.format.layout import find_shards
from harness.task.data import LABELS, decode
from harness.task.digests import Digests
from harness.task.hidden import Withhold
from harness.task.layout import TaskDirectory, TaskFiles
from harness.task.model import Model
from harness.task.selection import Wanted, require_known, some_models
from harness.task.task import Task, read_task

Split = Literal["test", "train"]


@dataclass(frozen=True)
class StudiedTask:
    """A valid task and some of its models.

    Attributes:
        task: the task, checked.
        files: where its files are.
        models: the chosen models.
    """

    task: Task
    files: TaskFiles
    models: tuple[Model, ...]

    def data_digest(self, split: Split) -> str:
        """Return the digest of the shards; raises `UserError` for a task without them."""
        if split == "train":
            return self.task.data.digest
        source = self._test_shards()
        with Digests(source) as digests:
            return digests.of_data(find_shards(source))

    def write_data(self, split: Split, directory: Path) -> NDArray[np.int32]:
        """Write inputs.npy and labels.npy to a directory, and return the labels.

        Test data are decoded into this directory alone: a cache of them could be shown to a measure.
        """
        source = None if split == "train" else self._test_shards()
        directory.mkdir(parents=True)
        if source is None:
            self.task.data.write_canonical(directory)
        else:
            with Digests(source) as digests:
                decode(find_shards(source), directory, digests)
        return np.asarray(np.load(directory / LABELS))

    def write_model(self, model: Model, directory: Path) -> Path:
        """Write a model in canonical form to a directory of its own inside `directory`, and return that."""
        target = directory / model.id
        target.mkdir(parents=True)
        model.write_canonical(target)
        return target

    def _test_shards(self) -> Path:
        source = self.files.test
        if not source.is_dir():
            remedy = "use --split train, or add test shards"
            raise UserError("no test data", file=source, expected="shards", found="no such directory", remedy=remedy)
        return source


def read_subject(tasks_dir: Path, name: str, models: Wanted = None, withhold: Withhold = Withhold.AUTO) -> StudiedTask:
    """Read and check a task.

    Args:
        tasks_dir: directory of the tasks.
        name: name of the task.
        models: the models to look at; all by default.
        withhold: the tasks that are refused: those marked as hidden, unless the organiser says otherwise.

    Raises:
        UserError: no such task or model, or the task is not valid, or withheld: protocols show errors and gaps.
    """
    (files,) = TaskDirectory(tasks_dir).runnable([name])
    if withhold.covers(files.hidden):
        remedy = "an organiser may use --withhold never"
        raise UserError(f"task {name}: its errors and gaps are withheld", remedy=remedy)
    task = read_task(files)
    require_known([task], models)
    return StudiedTask(task, files, some_models(task, models))
