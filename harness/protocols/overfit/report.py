"""The result of the overfitting test as tables on the terminal, as CSV and as JSON."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from harness.protocols.files import write_csv
from harness.protocols.overfit.result import Group, OverfitGroup, OverfitResult, OverfitRow
from harness.tables import print_lines, print_table

LEGEND = (
    "adversarial error: of images that a generator has moved by at most epsilon pixels; weighted by densities, it "
    "gives the adversarial estimate of the same risk as the error (in brackets, intervals at 95 %). T: their "
    "difference. A small p-value says that models and images are not independent; a large one says nothing.",
)


def print_result(result: OverfitResult, console: Console) -> None:
    """Print all figures of groups, but only error rate and p-values of models; for a task of one model, all figures."""
    groups = [row for row in result.rows if row.group.kind is not OverfitGroup.MODEL]
    models = [row for row in result.rows if row.group.kind is OverfitGroup.MODEL]
    headings = ["models", "epsilon", "error", "adversarial error", "adversarial estimate", "T", "p-value"]
    print_table(console, headings, _in_full(groups or models), left=("models",))
    if groups:
        console.print()
        radii = result.settings.radii
        headings = ["model", "error", *(f"p-value, epsilon {radius}" for radius in radii)]
        print_table(console, headings, _in_short(models, len(radii)), left=("model",))
    print_lines(console, ["", *LEGEND])
    print_lines(console, result.notes, style="yellow")


def label(group: Group) -> str:
    """Return the name of a group, with its number of models, such as `all 3 models`."""
    number = len(group.models)
    if group.kind is OverfitGroup.ALL:
        return f"all {number} models"
    return f"{group.name} ({number} models)" if number > 1 else group.name


def p_value_text(value: float) -> str:
    """Return a p-value with two decimals; below 0.01, with one significant digit."""
    return f"{value:.2f}" if value >= 0.01 else f"{value:.1g}"


def _in_full(rows: Sequence[OverfitRow]) -> list[tuple[str, ...]]:
    cells: list[tuple[str, ...]] = []
    last = None
    for row in rows:
        low, high = row.adversarial_interval
        cells.append(
            (
                "" if row.group is last else label(row.group),
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


def write_rows(result: OverfitResult, file: Path) -> Path:
    """Write all figures of the result to `file` as CSV, and return `file`."""
    return write_csv(file, [_figures(row) | {"models": " ".join(row.group.models)} for row in result.rows])


def result_object(result: OverfitResult) -> dict[str, Any]:
    """Return all figures of the result as a dictionary for JSON."""
    rows = [_figures(row) for row in result.rows]
    failures = {model: str(error) for model, error in result.failures.items()}
    return {"task": result.task, "rows": rows, "failures": failures, "notes": result.notes}


def _figures(row: OverfitRow) -> dict[str, Any]:
    group, (low, high), (adversarial_low, adversarial_high) = row.group, row.error_interval, row.adversarial_interval
    return {
        "kind": group.kind, "name": group.name, "n_models": len(group.models), "models": group.models,
        "epsilon": row.epsilon, "n_images": row.n_images, "error_rate": row.error_rate, "error_low": low,
        "error_high": high, "adversarial_error_rate": row.adversarial_error_rate,
        "adversarial_estimate": row.adversarial_estimate, "adversarial_low": adversarial_low,
        "adversarial_high": adversarial_high, "T": row.statistic, "p_value": row.p_value,
    }  # fmt: skip
