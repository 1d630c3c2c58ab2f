"""The models and data of a task that a protocol evaluates, as files for the processes that run models."""

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
    """A valid task and some of its models."""

    task: Task  #: the task, checked
    files: TaskFiles  #: the paths of its files
    models: tuple[Model, ...]  #: the chosen models

    def data_digest(self, split: Split) -> str:
        """Return the digest of the shards; raises `UserError` for a task without shards."""
        if split == "train":
            return self.task.data.digest
        source = self._test_shards()
        with Digests(source) as digests:
            return digests.of_data(find_shards(source))

    def write_data(self, split: Split, directory: Path) -> None:
        """Write inputs.npy and labels.npy to a directory.

        Test data are decoded only into this directory: a cached copy could be shown to a measure.
        """
        source = None if split == "train" else self._test_shards()
        directory.mkdir(parents=True)
        if source is None:
            self.task.data.write_canonical(directory)
        else:
            with Digests(source) as digests:
                decode(find_shards(source), directory, digests)

    def write_model(self, model: Model, directory: Path) -> Path:
        """Write a model in canonical form to its own directory inside `directory`, and return its directory."""
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
    """Read and check a task; a withheld task is refused, because protocols show errors and gaps.

    Raises:
        UserError: no such task or model, or the task is not valid, or withheld.
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
    place: Path,
    shared: Mapping[str, Any],
    on_model: Callable[[], object],
    change: Callable[[Path], None] = lambda _: None,
) -> dict[str, UserError]:
    """Let a program write the file of each model in `files`; returns model id -> reason why it has no file.

    A question holds the keys of `shared`, `model`, the directory of a model in canonical form, and `target`, the file.
    Models are written below `place`, which exists, and changed by `change`. `on_model` is called for each.
    """
    models = [model for model in subject.models if model.id in files]
    questions = [_asking(subject, one, place, {**shared, "target": str(files[one.id])}, change) for one in models]
    failures = {}
    with closing(ask_all(program, runtime, questions)) as answers:
        for position, answer in answers:
            if isinstance(answer, UserError):
                failures[models[position].id] = answer
            on_model()
    return failures


@contextmanager
def _asking(
    subject: StudiedTask, model: Model, place: Path, question: Question, change: Callable[[Path], None]
) -> Iterator[Question]:
    """Yield the question while the model's files exist."""
    directory = subject.write_model(model, place / "models")
    try:
        change(directory)
        yield question | {"model": str(directory)}
    finally:
        shutil.rmtree(directory, ignore_errors=True)
