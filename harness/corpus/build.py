"""Builds a task from a recipe: trains a model for each cell of the grid, and makes a task of the trained models.

During the training, all files are in OUT/building/TASK, which other commands do not treat as a task.
"""

import json
import shutil
from collections.abc import Generator, Iterator
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.corpus.catalogue import argument_of
from harness.corpus.recipe import Recipe, read_recipe
from harness.directory_lock import locked_directory
from harness.errors import UserError, writing
from harness.format.files import visible_directories
from harness.format.layout import BUILDING, INPUTS, REFERENCE, REFERENCES, TEST, TRAIN, model_name
from harness.format.mark import write_mark
from harness.format.reference import Reference, reference_entry, write_reference
from harness.gpus import find_gpus
from harness.processes import NoAnswerError, Process, Reply, share_out
from harness.processes.runtimes import require_tensorflow
from harness.task.contents import count_test_samples, read_contents, write_known
from harness.task.incomplete import RECIPE_ARGUMENT, command_to_continue
from harness.task.layout import TaskFiles, require_no_flat_tasks
from harness.worker.runtimes import RUNTIMES
from scoring import Grid

PROGRAM = "harness.corpus.trainer"

#: Names of directories of an unfinished task; suffix of directories that are being written.
DATA, CELLS, RECORDS, UNFINISHED = "data", "cell_{}", "records", ".unfinished"

#: Files with the recipe and with its digest, in finished and unfinished tasks.
RECIPE, MARK = "recipe.toml", "recipe.sha256"

#: File beside a finished task's reference data: how each model was trained.
TRAINING = "training.json"


@dataclass(frozen=True)
class Event:
    """An event of a build: the data are ready; or the training of a cell was evaluated, has ended, or has failed."""

    kind: str  #: `data`, `look`, `done` or `failed`
    cell: int  #: number of the cell; -1 for `data`
    details: dict[str, Any]  #: the event or answer of the training program


class Build:
    """The directories of a task that is or was built from a recipe.

    The constructor raises `UserError` if the directories have finished models of another recipe.
    """

    def __init__(self, recipe: Recipe, out: Path) -> None:
        require_no_flat_tasks(out)
        self.recipe = recipe
        self.building = out / BUILDING / recipe.name
        self.task = out / INPUTS / recipe.name
        self.reference = out / REFERENCES / recipe.name
        self._require_own(self.reference)
        if self._has_finished:
            self._require_own(self.building)
        if self.task.exists() and not (self.reference / MARK).exists():
            raise UserError("already exists", file=self.task, remedy="choose another --output or another name")

    @property
    def is_finished(self) -> bool:
        """Whether the task has been assembled from its models."""
        return self.task.exists()

    def locked(self) -> AbstractContextManager[None]:
        """Return a context that locks the build. Entering it raises `UserError` if another process builds the task."""
        return locked_directory(self.building, self.building.with_name(f"{self.recipe.name}.lock"), "pgdl task build")

    def forget(self) -> None:
        """Remove all files of the unfinished task, including finished models."""
        shutil.rmtree(self.building, ignore_errors=True)
        shutil.rmtree(self.reference, ignore_errors=True)

    def begin(self) -> None:
        """Create the directory of the build, or keep the directory of an earlier build from the same recipe.

        Raise `UserError` if TensorFlow is missing, or if the directory has finished models of another recipe.
        """
        require_tensorflow("models are trained in TensorFlow")
        if self._has_finished:  # another command may have trained models meanwhile
            self._require_own(self.building)
        with self._writing():
            if not self._is_own(self.building):
                shutil.rmtree(self.building)
            self.building.mkdir(parents=True, exist_ok=True)
            (self.building / RECIPE).write_bytes(self.recipe.text.encode())
            (self.building / MARK).write_bytes(self.recipe.digest.encode())
            (self.building / RECIPE_ARGUMENT).write_bytes(argument_of(self.recipe.file).encode())

    def records(self) -> dict[int, dict[str, Any]]:
        """Return number of a cell -> record of its training, for all cells with a finished model."""
        if (self.reference / TRAINING).exists():  # exists once the task is finished
            return {record["cell"]: record for record in json.loads((self.reference / TRAINING).read_bytes())}
        numbers = [cell.number for cell in self.recipe.cells]
        finished = [n for n in numbers if any((self.building / name).exists() for name in _names(n))]
        return {n: json.loads((self.building / RECORDS / f"{n}.json").read_bytes()) for n in finished}

    def train(self, numbers: list[int], workers: int) -> Generator[Event]:
        """Train the cells `numbers`, `workers` at a time, and yield events. Closing the iterator stops the training.

        Raise `UserError` if training cannot continue, for instance because the disk is full. Finished models are kept.
        """
        with ExitStack() as stack:
            stack.enter_context(self._removed_if_empty())  # entered first, so left last: no trainer writes then
            trainers = [stack.enter_context(self._trainer(slot)) for slot in range(workers)]
            notes = trainers[0].ask({"job": "look"})["notes"]
            try:
                if not (self.building / DATA).exists() and not (self.building / TRAIN.parts[0]).exists():
                    trainers[0].ask({"job": "data"})
                yield Event("data", -1, {"notes": notes})
                questions = [nullcontext({"job": number}) for number in numbers]
                for reply in stack.enter_context(closing(share_out(trainers, questions))):
                    yield _event(numbers[reply.position], reply)
            except NoAnswerError as error:
                remedy = "finished models are kept; fix this and run the same command again"
                raise UserError(str(error), remedy=remedy) from error

    @contextmanager
    def _removed_if_empty(self) -> Iterator[None]:
        """If the context raises `UserError` and no model is finished, remove the directory of the build."""
        try:
            yield
        except UserError:
            if not self._has_finished:
                shutil.rmtree(self.building, ignore_errors=True)
            raise

    @property
    def _has_finished(self) -> bool:
        names = [path.name for pattern in _names("*") for path in self.building.glob(pattern)]
        return any(not name.endswith(UNFINISHED) for name in names)

    def _is_own(self, directory: Path) -> bool:
        mark = directory / MARK
        return not mark.exists() or mark.read_text("utf-8") == self.recipe.digest

    def _require_own(self, directory: Path) -> None:
        if not self._is_own(directory):
            remedy = "choose another --output, another name in the recipe, or remove it"
            expected = self.recipe.file
            raise UserError("belongs to another recipe or version", file=directory, expected=expected, remedy=remedy)

    def _trainer(self, slot: int) -> Process:
        gpus = find_gpus()
        gpu = gpus[slot % len(gpus)].uuid if gpus else False
        arguments = str(self.recipe.file.absolute()), str(self.building.absolute())
        return Process(PROGRAM, RUNTIMES["tensorflow"], *arguments, threads=self.recipe.threads, gpu=gpu, own_data=True)

    def hide(self) -> None:
        """Mark the task as hidden if the recipe says so. If it is marked already, do nothing."""
        if self.recipe.hidden:
            write_mark(self.reference)

    def finish(self) -> None:
        """Make a task of the finished models: first the reference data, then all models in one step.

        After an interruption, another call completes the task. Raise `UserError` if files cannot be written.
        """
        with self._writing():
            records = self.records()
            self.reference.mkdir(parents=True, exist_ok=True)
            self.hide()  # before the first file of the task
            self.task.parent.mkdir(parents=True, exist_ok=True)
            self._write_reference(records)
            for number in records:
                cell, model = (self.building / name for name in _names(number))
                if cell.exists():
                    cell.rename(model)
            shutil.rmtree(self.building / RECORDS, ignore_errors=True)
            for name in (RECIPE, MARK, RECIPE_ARGUMENT):
                (self.building / name).unlink(missing_ok=True)
            if (self.building / DATA).exists():
                (self.building / DATA).rename(self.building / TRAIN.parts[0])
            contents = read_contents(TaskFiles(self.task.name, self.building, self.reference / REFERENCE))
            write_known(self.reference, contents)
            self.building.rename(self.task)
            if not any(self.building.parent.iterdir()):
                self.building.parent.rmdir()

    def _write_reference(self, records: dict[int, dict[str, Any]]) -> None:
        entries = {
            str(cell.number): reference_entry(self.recipe.grid, cell.hyperparameters, records[cell.number]["metrics"])
            for cell in self.recipe.cells
            if cell.number in records
        }
        write_reference(self.reference / REFERENCE, entries)
        (self.reference / RECIPE).write_bytes(self.recipe.text.encode())
        (self.reference / MARK).write_bytes(self.recipe.digest.encode())
        (self.reference / TRAINING).write_bytes(json.dumps(list(records.values()), indent=1).encode())

    def _writing(self) -> AbstractContextManager[None]:
        return writing(self.building, remedy="name another directory with --output; finished models are kept")


def _names(number: int | str) -> tuple[str, str]:
    """Return the names of the directory of cell `number` in an unfinished and in a finished task; "*" is any cell."""
    return CELLS.format(number), model_name(str(number))


def _event(cell: int, reply: Reply) -> Event:
    if reply.error is not None:
        raise reply.error
    if reply.answer is None:
        return Event("look", cell, reply.event or {})
    diverged = reply.answer.get("diverged")
    return Event("done", cell, reply.answer) if diverged is None else Event("failed", cell, {"message": diverged})


def find_builds(out: Path) -> list[Build]:
    """Return the unfinished builds in `out`, task2 before task10. Raise `UserError` if a build has no recipe."""
    builds = []
    for directory in visible_directories(out / BUILDING):
        recipe = directory / RECIPE
        if not recipe.is_file():
            remedy = f"{command_to_continue(out, directory.name)} continues it, and writes the file"
            raise UserError("missing", file=recipe, expected="the recipe of an unfinished task", remedy=remedy)
        builds.append(Build(read_recipe(recipe), out))
    return builds


def reference_of(build: Build) -> Reference | None:
    """Return the reference data of the finished models; None if no model is finished."""
    records = {model_name(str(number)): record for number, record in sorted(build.records().items())}
    if not records:
        return None
    hyperparameters = {model: record["hyperparameters"] for model, record in records.items()}
    train, test = (
        {model: record["metrics"][name] for model, record in records.items()} for name in ("train_acc", "test_acc")
    )
    return Reference(Grid.from_hyperparameters(build.recipe.grid, hyperparameters), train, test)


def count_tests(build: Build) -> int | None:
    """Return the number of test examples of an unfinished task; None if the test data are not written yet."""
    return count_test_samples(build.building / DATA / TEST.name) or count_test_samples(build.building / TEST)
