"""Builds a task from a recipe: trains the cells that are missing, and puts the task together when none is.

Until then everything lies in OUT/building/TASK, in a form that no other command takes for a task.
"""

import json
import queue
import shutil
import threading
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.corpus.process import TrainerProcess
from harness.corpus.recipe import Recipe
from harness.corpus.trainer import CELLS, DATA, RECORDS
from harness.errors import UserError
from harness.format.layout import INPUTS, REFERENCE, REFERENCES, TRAIN, model_name

#: What says to which recipe an unfinished task belongs.
MARK = "recipe.sha256"

#: How each model of a finished task was trained, beside the reference.
TRAINING = "training.json"


@dataclass(frozen=True)
class Event:
    """Something that happened to a cell: `look`, `done` or `failed`, with the trainer's words about it."""

    kind: str
    cell: int
    details: dict[str, Any]


class Build:
    """The directories of one task, finished or not."""

    def __init__(self, recipe: Recipe, out: Path) -> None:
        """Look at what is there; raises `UserError` if it belongs to another recipe."""
        self.recipe = recipe
        self.building = out / "building" / recipe.name
        self.task = out / INPUTS / recipe.name
        self.reference = out / REFERENCES / recipe.name
        for mark in (self.building / MARK, self.reference / MARK):
            if mark.exists() and mark.read_text() != recipe.digest:
                remedy = "choose another --out, another name in the recipe, or remove it"
                raise UserError("belongs to another recipe", file=mark.parent, expected=recipe.file, remedy=remedy)
        if self.task.exists() and not (self.reference / MARK).exists():
            raise UserError("is there already", file=self.task, remedy="choose another --out or another name")

    @property
    def is_finished(self) -> bool:
        """Whether the whole task is there."""
        return self.task.exists()

    def forget(self) -> None:
        """Remove what was trained of an unfinished task."""
        shutil.rmtree(self.building, ignore_errors=True)
        shutil.rmtree(self.reference, ignore_errors=True)

    def begin(self) -> None:
        """Make the directory, or take up the one that is there."""
        with self._writing():
            self.building.mkdir(parents=True, exist_ok=True)
            (self.building / MARK).write_text(self.recipe.digest)

    def records(self) -> dict[int, dict[str, Any]]:
        """Return the records of the cells that are finished: number -> record."""
        if (self.reference / TRAINING).exists():  # written when all were there
            return {record["cell"]: record for record in json.loads((self.reference / TRAINING).read_text())}
        numbers = [cell.number for cell in self.recipe.cells]
        finished = [n for n in numbers if any((self.building / name).exists() for name in _names(n))]
        return {n: json.loads((self.building / RECORDS / f"{n}.json").read_text()) for n in finished}

    def train(self, numbers: list[int], workers: int) -> Generator[Event]:
        """Train cells, `workers` at a time; yields what happens. Closing the iterator kills the trainers.

        Raises `UserError` where training cannot go on: no data, a full disk. What is finished is kept.
        """
        waiting: queue.SimpleQueue[int] = queue.SimpleQueue()
        for number in numbers:
            waiting.put(number)
        events: queue.SimpleQueue[Event | BaseException | None] = queue.SimpleQueue()
        trainers = [TrainerProcess(self.recipe.file, self.building, slot, workers) for slot in range(workers)]
        try:
            notes = trainers[0].wait_until_ready()
            if not (self.building / DATA).exists() and not (self.building / TRAIN.parts[0]).exists():
                for said in trainers[0].work("data"):
                    _raise_if_fatal(said)
            yield Event("data", -1, {"notes": notes})
            threads = [threading.Thread(target=_feed, args=(trainer, waiting, events)) for trainer in trainers]
            for thread in threads:
                thread.start()
            working = len(threads)
            while working:
                item = events.get()
                if isinstance(item, BaseException):
                    raise item
                if item is None:
                    working -= 1
                else:
                    yield item
        finally:
            for trainer in trainers:
                trainer.kill()

    def finish(self) -> None:
        """Put the task together: the reference first, the models' directory in one step at the end.

        Whenever it is interrupted, calling it again does the rest.
        """
        with self._writing():
            self._put_together()

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Turn a place that cannot be written to into a `UserError`."""
        try:
            yield
        except OSError as error:
            where, remedy = error.filename or self.building, "name another place by --out; what is finished is kept"
            raise UserError(f"cannot be written: {error.strerror}", file=where, remedy=remedy) from error

    def _put_together(self) -> None:
        from harness.format.reference import reference_entry, write_reference

        records = self.records()
        self.reference.mkdir(parents=True, exist_ok=True)
        self.task.parent.mkdir(parents=True, exist_ok=True)
        entries = {
            str(cell.number): reference_entry(self.recipe.grid, cell.hyperparameters, records[cell.number]["metrics"])
            for cell in self.recipe.cells
            if cell.number in records
        }
        write_reference(self.reference / REFERENCE, entries)
        (self.reference / "recipe.toml").write_text(self.recipe.text)
        (self.reference / MARK).write_text(self.recipe.digest)
        (self.reference / TRAINING).write_text(json.dumps(list(records.values()), indent=1))
        for number in records:
            cell, model = (self.building / name for name in _names(number))
            if cell.exists():
                cell.rename(model)
        shutil.rmtree(self.building / RECORDS, ignore_errors=True)
        (self.building / MARK).unlink(missing_ok=True)
        if (self.building / DATA).exists():
            (self.building / DATA).rename(self.building / TRAIN.parts[0])
        self.building.rename(self.task)
        if not any(self.building.parent.iterdir()):
            self.building.parent.rmdir()


def _names(number: int) -> tuple[str, str]:
    """A cell's directory before and after the task is put together."""
    return CELLS.format(number), model_name(str(number))


def _feed(trainer: TrainerProcess, waiting: "queue.SimpleQueue[int]", events: Any) -> None:
    """Give one trainer cells until there is none left."""
    try:
        trainer.wait_until_ready()
        while True:
            number = waiting.get_nowait()
            for said in trainer.work(str(number)):
                _raise_if_fatal(said)
                events.put(Event(said["event"], number, said))
    except queue.Empty:
        pass
    except BaseException as error:
        events.put(error)
    finally:
        events.put(None)


def _raise_if_fatal(event: dict[str, Any]) -> None:
    if event.get("fatal"):
        remedy = "what is finished is kept; mend this and run the same command again"
        raise UserError(str(event["message"]), remedy=remedy)
