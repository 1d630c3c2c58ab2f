"""`pgdl results`: prints recorded calls, for people and for programs."""

import sys
from typing import TYPE_CHECKING, Any

import click

import pgdl
from harness.cli import options
from harness.credentials import Address
from harness.errors import UserError
from harness.printing import ask, output, say
from harness.task.hidden import REMEDY

if TYPE_CHECKING:
    from collections.abc import Iterable

    from harness.records import Evaluation

#: Columns of the table. The other formats have all columns of a record.
SHOWN = ("submission", "version", "task", "model", "outcome", "value", "seconds", "MiB", "message")


@click.command("results")
@options.results
@click.option(
    "--submission", "submissions", multiple=True, metavar="NAME", help="Only this submission; may be repeated."
)
@options.tasks
@options.task
@options.withhold
@click.option(
    "--outcome", "outcomes", multiple=True, metavar="WORD", help="Only calls with this outcome; may be repeated."
)
@click.option(
    "--format", "form", type=click.Choice(["table", "csv", "json", "parquet"]), default="table", show_default=True,
    help="Output format.",
)  # fmt: skip
@click.option(
    "--remove", metavar="NAME",
    help="Move all records of this submission from the board to another database, whose name is printed.",
)  # fmt: skip
@click.option("--yes", is_flag=True, help="With --remove: do not ask.")
def command(results: Address, form: str, remove: str | None, yes: bool, **asked: Any) -> None:
    """Print a row for each recorded call, oldest first. If a call has several records, the newest is printed. Records
    of hidden tasks are withheld, and counted by outcome in a last line.

    csv, json (one object per line) and parquet have every column (pgdl help records), including the submission's
    output. pgdl board and pgdl score decide which records count for a score.

    Example: pgdl results --submission my_measure --format parquet > calls.parquet
    """
    if remove is not None:
        options.require_not_given(
            {"submissions", "tasks_dir", "task_names", "withhold", "outcomes", "form"},
            "--remove takes all records of one submission",
        )
        _remove(remove, results, yes=yes)
        return
    if yes:
        raise UserError("--yes", expected="--remove NAME with it", remedy="leave --yes out")
    with pgdl.open_results(results, **asked) as rows:
        if form == "table":
            _print_table(rows)
        else:
            _write(rows, form)
    for task, counts in rows.withheld.items():
        told = ", ".join(f"{number} {outcome}" for outcome, number in counts.most_common())
        say(f"{task}: records are withheld ({told}); {REMEDY}", dim=True, err=True)


def _remove(submission: str, results: Address, *, yes: bool) -> None:
    def confirm(question: str) -> bool:
        if yes:
            return True
        say(question, err=True)
        if ask("Remove them?"):
            return True
        raise UserError("nothing was removed", remedy="add --yes to remove them without a question")

    say(f"Removed; a copy is in {pgdl.remove_results(submission, results, confirm=confirm)}", err=True)


def _print_table(rows: "Iterable[Evaluation]") -> None:
    from harness.tables import print_table, wide_console

    cells = [
        (
            row.submission,
            row.submission_digest[:8],
            row.task,
            row.model + (f", repetition {row.repeat}" if row.repeat else ""),
            row.outcome,
            "-" if row.value is None else f"{row.value:.6g}",
            f"{row.call_wall_s:.2f}",
            f"{row.peak_memory_bytes / 1024**2:.0f}",
            row.message,
        )
        for row in rows
    ]
    print_table(wide_console(), SHOWN, cells, left=SHOWN[:5], wrap=("message",))


def _write(rows: "Iterable[Evaluation]", form: str) -> None:
    from harness.records.export import write_csv, write_json_lines, write_parquet

    if form == "parquet" and sys.stdout.isatty():
        raise UserError("--format parquet is not for a terminal", remedy="add > calls.parquet")
    writers = {"csv": write_csv, "json": write_json_lines, "parquet": write_parquet}
    with output() as stream:
        writers[form](rows, stream)
