"""The task that a protocol evaluates, and files of its models and data for the processes that run models."""

import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from harness.errors import UserError
from harness.format.layout import find_shards
from harness.processes import ask_all
from harness.processes.models import Question
from harness.protocols.files import part_file
from harness.task.data import decode
from harness.task.digests import Digests
from harness.task.hidden import Withhold
from harness.task.layout import TaskDirectory, TaskFiles
from harness.task.model import Model
from harness.task.selection import ModelSelection, require_known, select_models
from harness.task.task import Task, read_task
from harness.worker.runtimes import Runtime

Split = Literal["test", "train"]


@dataclass(frozen=True)
class StudiedTask:
    """A checked task, and its models that the user chose."""

    task: Task
    files: TaskFiles  #: the paths of the task's files
    models: tuple[Model, ...]  #: the chosen models

    def data_digest(self, split: Split) -> str:
        """Return the SHA-256 of the training or test data; raise `UserError` if the task does not have these data."""
        if split == "train":
            return self.task.data.digest
        source = self._test_shards()
        with Digests(source) as digests:
            return digests.of_data(find_shards(source))

    def write_data(self, split: Split, directory: Path) -> None:
        """Create `directory`, and write training or test examples there as inputs.npy and labels.npy.

        Test data are never cached, because a measure could then read the copy in the cache.
        """
        directory.mkdir(parents=True)
        if split == "train":
            self.task.data.write_canonical(directory)
            return
        source = self._test_shards()
        with Digests(source) as digests:
            decode(find_shards(source), directory, digests)

    def part_files(self, protocol: str, **key: object) -> dict[str, Path]:
        """Return model id -> path in the cache (`part_file`) for the arrays that a protocol computes for the model."""
        return {model.id: part_file(protocol, model=model.shown_digest, **key) for model in self.models}

    def write_model(self, model: Model, directory: Path) -> Path:
        """Write a model, as workers read it, to a new directory `directory`/ID, and return this directory."""
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


def read_subject(
    tasks_dir: Path, name: str, models: ModelSelection = None, withhold: Withhold = Withhold.AUTO
) -> StudiedTask:
    """Read and check the task `name`, and choose the models that a protocol evaluates.

    Raise `UserError` if the task or a model does not exist, or if the task is invalid. A hidden task is refused too,
    unless `withhold` allows it: the results of protocols reveal accuracies and gaps.
    """
    (files,) = TaskDirectory(tasks_dir).runnable([name])
    if withhold.covers(files.hidden):
        remedy = "an organiser may use --withhold never"
        raise UserError(f"task {name}: its errors and gaps are withheld", remedy=remedy)
    task = read_task(files)
    require_known([task], models)
    return StudiedTask(task, files, select_models(task, models))


def write_parts(
    program: str,
    runtime: Runtime,
    subject: StudiedTask,
    files: Mapping[str, Path],
    directory: Path,
    shared: Mapping[str, Any],
    on_model: Callable[[str, UserError | None], object],
) -> dict[str, UserError]:
    """Run a program on each model in `files` (model id -> path to write). Return model id -> error, for failed models.

    A question to the program has the keys of `shared`, `model` for the model's directory, and `target` for the path.
    Models are written below the existing `directory`; the program may rewrite their files. `on_model` is called
    after each answer, with the model's id and its error if it failed.
    """
    models = [model for model in subject.models if model.id in files]
    questions = [_question(subject, one, directory, {**shared, "target": str(files[one.id])}) for one in models]
    failures = {}
    with closing(ask_all(program, runtime, questions)) as answers:
        for position, answer in answers:
            name, error = models[position].id, answer if isinstance(answer, UserError) else None
            if error is not None:
                failures[name] = error
            on_model(name, error)
    return failures


@contextmanager
def _question(subject: StudiedTask, model: Model, directory: Path, shared: Question) -> Iterator[Question]:
    written = subject.write_model(model, directory / "models")
    try:
        yield shared | {"model": str(written)}
    finally:
        shutil.rmtree(written, ignore_errors=True)
