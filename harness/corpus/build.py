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

from harness.cache import sync_files
from harness.corpus.parts import (
    DATA,
    RECORDS,
    UNFINISHED,
    find_damaged,
    find_part,
    part_names,
    read_record,
    read_written,
)
from harness.corpus.recipe import Recipe
from harness.directory_lock import locked_directory
from harness.errors import UserError, writing
from harness.format.layout import BUILDING, INPUTS, REFERENCE, REFERENCES
from harness.format.mark import write_mark
from harness.format.reference import reference_entry, write_reference
from harness.gpus import find_gpus
from harness.processes import NoAnswerError, Process, Reply, UnableError, share_out
from harness.processes.runtimes import require_tensorflow
from harness.task.contents import read_contents, read_like_known, write_known
from harness.task.layout import RECIPE_DIGEST, TaskFiles, require_no_flat_tasks, require_same_disk
from harness.worker.runtimes import RUNTIMES

PROGRAM = "harness.corpus.trainer"

#: Files with the recipe and with its digest, in finished and unfinished tasks.
RECIPE, MARK = "recipe.toml", RECIPE_DIGEST

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
        """Whether the task has been assembled from its models, and still has all of them."""
        return all(find_part(self.task, part) for part in self._parts)

    def locked(self) -> AbstractContextManager[None]:
        """Return a context that locks the build. Entering it raises `UserError` if another process builds the task."""
        return locked_directory(self.building, self.building.with_name(f"{self.recipe.name}.lock"), "pgdl task build")

    def forget(self) -> None:
        """Remove all files of the unfinished task, including finished models. Raise `UserError` if it is finished."""
        if self.task.exists():
            remedy = f"remove it and {self.reference} to build it from scratch, or choose another --output"
            raise UserError("finished already, and --no-resume removes no finished task", file=self.task, remedy=remedy)
        shutil.rmtree(self.building, ignore_errors=True)
        shutil.rmtree(self.reference, ignore_errors=True)

    def begin(self) -> None:
        """Create the directory of the build, or keep the directory of an earlier build from the same recipe.

        A finished task that lacks a model or its data becomes unfinished again.

        Raise `UserError` if TensorFlow is missing, if the directory has finished models of another recipe, or if the
        finished task could not be moved to its place.
        """
        require_tensorflow("models are trained in TensorFlow")
        inputs = self.task.parent
        require_same_disk(inputs.parent, inputs)  # else no trained model would get there
        if self._has_finished:  # another command may have trained models meanwhile
            self._require_own(self.building)
        with self._writing():
            if not self._is_own(self.building):
                shutil.rmtree(self.building)
            if self.task.exists():
                self.task.rename(self.building)
            self.building.mkdir(parents=True, exist_ok=True)
            (self.building / RECIPE).write_bytes(self.recipe.text.encode())
            (self.building / MARK).write_bytes(self.recipe.digest.encode())

    def records(self) -> dict[int, dict[str, Any]]:
        """Return number of a cell -> record of its training, for all cells with a finished model and its record."""
        place = self.task if self.is_finished else self.building
        written = read_written(self.reference / TRAINING) or []  # the file exists once the task has been finished
        known = {record["cell"]: record for record in written}
        numbers = [cell.number for cell in self.recipe.cells if find_part(place, str(cell.number))]
        records = {number: read_record(place, str(number)) or known.get(number) for number in numbers}
        return {number: record for number, record in records.items() if record is not None}

    def remove_damaged(self) -> list[str]:
        """Remove the damaged models and data of the unfinished task, and return their names."""
        damaged = self._damaged(self.building)
        for directory in damaged.values():
            shutil.rmtree(directory)
        return list(damaged)

    def require_intact(self) -> None:
        """Raise `UserError` if a model of the finished task, or its training data, are damaged."""
        if damaged := self._damaged(self.task):
            remedy = "remove these models; then the same command trains them anew"
            raise UserError(f"not as they were built: {', '.join(damaged)}", file=self.task, remedy=remedy)
        read_like_known(self.reference, TaskFiles(self.task.name, self.task, self.reference / REFERENCE))

    def _damaged(self, place: Path) -> dict[str, Path]:
        """Return name -> directory of damaged parts of the task in `place`. Data without a record count as intact."""
        records = {str(number): record for number, record in self.records().items()}
        return find_damaged(place, self._parts, records | {DATA: read_record(place, DATA) or {}})

    def train(self, numbers: list[int], workers: int) -> Generator[Event]:
        """Train the cells `numbers`, `workers` at a time, and yield events. Closing the iterator stops the training.

        Raise `UserError` if training cannot continue, for instance because the disk is full. Finished models are kept.
        """
        with ExitStack() as stack:
            stack.enter_context(self._removed_if_empty())  # entered first, so left last: no trainer writes then
            trainers = [stack.enter_context(self._trainer(slot)) for slot in range(workers)]
            notes = trainers[0].ask({"job": "look"})["notes"]
            try:
                if not self.has_data:
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
    def has_data(self) -> bool:
        """Whether the data of the unfinished task are written."""
        return find_part(self.building, DATA) is not None

    @property
    def _parts(self) -> list[str]:
        return [DATA, *(str(cell.number) for cell in self.recipe.cells)]

    @property
    def _has_finished(self) -> bool:
        names = [path.name for pattern in part_names("*") for path in self.building.glob(pattern)]
        return any(not name.endswith(UNFINISHED) for name in names)

    def _is_own(self, directory: Path) -> bool:
        mark = directory / MARK
        return not mark.exists() or mark.read_text("utf-8") == self.recipe.digest

    def _require_own(self, directory: Path) -> None:
        if not self._is_own(directory):
            places = " and ".join(str(path) for path in (self.task, self.reference, self.building) if path.exists())
            remedy = f"choose another --output, another name in the recipe, or remove {places}"
            expected, found = self.recipe.file, self.recipe.difference(directory / RECIPE)
            raise UserError(
                "belongs to another recipe or version", file=directory, expected=expected, found=found, remedy=remedy
            )

    def _trainer(self, slot: int) -> Process:
        gpus = find_gpus()
        gpu = gpus[slot % len(gpus)].uuid if gpus else False
        arguments = str(self.recipe.file.absolute()), self.recipe.digest, str(self.building.absolute())
        return Process(PROGRAM, RUNTIMES["tensorflow"], *arguments, threads=self.recipe.threads, gpu=gpu, own_data=True)

    def hide(self) -> None:
        """Mark the task as hidden if the recipe says so. If it is marked already, do nothing."""
        if self.recipe.hidden:
            write_mark(self.reference)

    def finish(self) -> None:
        """Make a task of the finished models: first the reference data, then all models in one step.

        Call this again after an interruption. Raise `UserError` if files cannot be written, or were damaged since they
        were written.
        """
        if damaged := self.remove_damaged():
            remedy = "the same command makes them anew"
            raise UserError(f"damaged during the build: {', '.join(damaged)}", file=self.building, remedy=remedy)
        with self._writing():
            records = self.records()
            self.reference.mkdir(parents=True, exist_ok=True)
            self.hide()  # before the first file of the task
            self.task.parent.mkdir(parents=True, exist_ok=True)
            self._write_reference(records)
            sync_files(self.reference)  # before the files of the build, which have the same contents, are removed
            for part in self._parts:
                unfinished, finished = (self.building / name for name in part_names(part))
                if unfinished.exists():
                    unfinished.rename(finished)
            shutil.rmtree(self.building / RECORDS, ignore_errors=True)
            for name in (RECIPE, MARK):
                (self.building / name).unlink(missing_ok=True)
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


def _event(cell: int, reply: Reply) -> Event:
    if isinstance(reply.error, UnableError):  # the trainer has ended; the next question starts another trainer
        return Event("failed", cell, {"message": str(reply.error)})
    if reply.error is not None:
        raise reply.error
    if reply.answer is None:
        return Event("look", cell, reply.event or {})
    failed = reply.answer.get("failed")
    return Event("done", cell, reply.answer) if failed is None else Event("failed", cell, {"message": failed})
