"""The result of the overfitting test, as tables on the terminal, as files and as JSON."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console

from harness.errors import UserError
from harness.protocols.files import write_csv
from harness.protocols.overfit.plot import FLOOR, write_plots
from harness.protocols.overfit.rows import OverfitGroup, OverfitRow
from harness.protocols.overfit.settings import OverfitSettings
from harness.summarized import Summarized
from harness.tables import print_lines, print_table

LEGEND = (
    "adversarial error: the error on images that a generator has moved by at most epsilon pixels. Adversarial "
    "estimate: this error, weighted by densities so that it estimates the same risk as the error (in brackets: 95 % "
    "intervals). T: adversarial estimate minus error. A small p-value says that models and images are not independent; "
    "a large p-value says nothing.",
)


@dataclass(frozen=True, repr=False)
class OverfitResult(Summarized):
    """The result of the overfitting test of a task's models."""

    task: str  #: name of the task
    settings: OverfitSettings  #: the user's settings, with the largest shifts that were possible
    rows: tuple[OverfitRow, ...]  #: sorted by group (all models, architectures, single models), then by largest shift
    failures: Mapping[str, UserError]  #: model id -> why the model could not be run
    notes: tuple[str, ...]  #: lines on why shifted images may be less probable than the originals

    def row(self, name: str, epsilon: int) -> OverfitRow:
        """Return the row of the group `name`, such as `model_0`, `architecture 1` or `all`, or raise `KeyError`."""
        for row in self.rows:
            if (row.group.name, row.epsilon) == (name, epsilon):
                return row
        raise KeyError(f"no row {name!r} with epsilon {epsilon}")

    @property
    def summary(self) -> list[str]:
        """The p-value of each row, then failures and notes."""
        found = [f"{row.group.label}, epsilon {row.epsilon}: p-value {p_value_text(row.p_value)}" for row in self.rows]
        return [*found, *(f"{model}: {error}" for model, error in self.failures.items()), *self.notes]

    @property
    def content(self) -> dict[str, Any]:
        """All results as a dictionary for JSON."""
        rows = [row.figures for row in self.rows]
        failures = {model: str(error) for model, error in self.failures.items()}
        return {"task": self.task, "rows": rows, "failures": failures, "notes": self.notes}

    def write(self, directory: Path) -> list[Path]:
        """Write a table and a plot to an existing directory; return the paths. Raise `UserError` on failure."""
        rows = [row.figures | {"models": " ".join(row.group.models)} for row in self.rows]
        title = f"{self.task}, {self.settings.split} set"
        return [write_csv(directory / "overfit.csv", rows), *write_plots(self.rows, title, directory / "overfit")]

    def show(self, console: Console) -> None:
        """Print all results of groups of models, but only error rates and p-values of single models.

        If there are only single models, print all their results.
        """
        groups = [row for row in self.rows if row.group.kind is not OverfitGroup.MODEL]
        models = [row for row in self.rows if row.group.kind is OverfitGroup.MODEL]
        headings = ["models", "epsilon", "error", "adversarial error", "adversarial estimate", "T", "p-value"]
        print_table(console, headings, _in_full(groups or models), left=("models",))
        if groups:
            console.print()
            radii = self.settings.radii
            headings = ["model", "error", *(f"p-value, epsilon {radius}" for radius in radii)]
            print_table(console, headings, _in_short(models, len(radii)), left=("model",))
        print_lines(console, ["", *LEGEND])
        print_lines(console, self.notes, style="yellow")


def p_value_text(value: float) -> str:
    """Return a p-value with two decimals; below 0.01, with one significant digit; below `FLOOR`, only the bound."""
    if value < FLOOR:
        return f"<{FLOOR:.0e}"
    return f"{value:.2f}" if value >= 0.01 else f"{value:.1g}"


def _in_full(rows: Sequence[OverfitRow]) -> list[tuple[str, ...]]:
    cells: list[tuple[str, ...]] = []
    last = None
    for row in rows:
        low, high = row.adversarial_interval
        cells.append(
            (
                "" if row.group is last else row.group.label,
                str(row.epsilon),
                f"{row.error_rate:.4f}",
                f"{row.adversarial_error_rate:.4f}",
                f"{row.adversarial_estimate:.4f} ({low:.3f} to {high:.3f})",
                f"{row.statistic:+.4f}",
                p_value_text(row.p_value),
            )
        )
        last = row.group
    return cells


def _in_short(rows: Sequence[OverfitRow], n_radii: int) -> list[tuple[str, ...]]:
    chunks = [rows[start : start + n_radii] for start in range(0, len(rows), n_radii)]
    return [
        (chunk[0].group.name, f"{chunk[0].error_rate:.4f}", *(p_value_text(row.p_value) for row in chunk))
        for chunk in chunks
    ]
