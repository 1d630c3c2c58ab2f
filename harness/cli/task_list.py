"""`pgdl task list`: the tasks in a directory."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import click

from harness.cli import as_json, options


@click.command("list")
@options.directory
@options.tasks
@as_json.option
@options.withhold
def command(directory: Path | None, tasks_dir: Path, form: str, withhold: str) -> None:
    """List the tasks in DIR: models, hyperparameters, generalization gaps, and whether they are hidden.

    Of hidden tasks neither hyperparameters nor gaps are shown.
    """
    from harness.tables import print_table, wide_console
    from harness.task.hidden import WITHHELD, Withhold
    from harness.task.layout import TaskDirectory
    from harness.task.summary import GAP_COLUMNS, gap_cells, summarise
    from harness.text import size

    found = [summarise(files, Withhold(withhold)) for files in TaskDirectory(directory or tasks_dir).all()]
    if form == "json":
        as_json.show([asdict(summary) for summary in found])
        return
    rows = [
        (
            summary.task,
            "yes" if summary.hidden else "no",
            summary.models,
            *gap_cells(summary.gaps),
            size(summary.bytes),
            _hyperparameters(summary.hyperparameters, WITHHELD if summary.withheld else "unknown"),
        )
        for summary in found
    ]
    headings = ("task", "hidden", "models", *GAP_COLUMNS, "size", "hyperparameters")
    print_table(wide_console(), headings, rows, left=("task", "hidden"), wrap=("hyperparameters",))


def _hyperparameters(names: Sequence[str] | None, otherwise: str) -> str:
    return otherwise if names is None else ", ".join(names)
