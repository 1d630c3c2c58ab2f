"""The progress of `pgdl task build`."""

import time
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TaskID, TimeRemainingColumn

from harness.cli.bars import Bars
from harness.corpus.build import Event
from harness.corpus.recipe import Recipe
from harness.tables import PlainColumn
from harness.text import counted


class BuildProgress(Bars):
    """Prints finished models. Shows running trainings: on a terminal by a bar each, in a log by a line a minute."""

    def __init__(self, recipe: Recipe, total: int, console: Console) -> None:
        columns = PlainColumn("{task.description}"), BarColumn(), MofNCompleteColumn()
        super().__init__(console, *columns, PlainColumn("{task.fields[now]}"), TimeRemainingColumn())
        self._recipe, self._done, self._total = recipe, 0, total
        self._all = self._bars.add_task("models", total=total, now="")
        self._models: dict[int, TaskID] = {}

    def __call__(self, event: Event) -> None:
        """Show an event of the training."""
        cell, details = event.cell, event.details
        if event.kind == "data":
            for note in details["notes"]:
                self._console.print(note)
        elif event.kind == "look":
            if cell not in self._models:
                epochs = self._recipe.cells[cell].training.max_epochs
                self._models[cell] = self._bars.add_task(f"model_{cell}", total=epochs, now="")
            now = f"cross-entropy {details['cross_entropy']:.4f}, accuracy {details['accuracy']:.4f}"
            self._bars.update(self._models[cell], completed=details["epoch"], now=now)
            if self._line_is_due(time.monotonic()):
                done = f"{self._done} of {counted(self._total, 'model')} done"
                self._print(f"{done}; model_{cell}: epoch {details['epoch']}, {now}")
        else:
            self._done += 1
            if cell in self._models:
                self._bars.remove_task(self._models.pop(cell))
            self._bars.advance(self._all)
            self._print(_line(self._recipe, cell, event.kind, details))

    def _print(self, line: str) -> None:
        self._console.print(line)
        self._line_s = time.monotonic()


def _line(recipe: Recipe, cell: int, kind: str, details: dict[str, Any]) -> str:
    where = ", ".join(f"{name} {value}" for name, value in recipe.cells[cell].hyperparameters.items())
    if kind == "failed":
        return f"model_{cell} ({where}): not trained: {details['message']}"
    train, test = details["metrics"]["train_acc"], details["metrics"]["test_acc"]
    figures = f"train {train:.4f}, test {test:.4f}, gap {train - test:.4f}"
    mark = "" if details["reached"] else ", criterion not reached"
    return f"model_{cell} ({where}): {figures}, {details['epochs']} epochs, {details['seconds']:.1f} s{mark}"
