"""`pgdl task`: list, show, validate and build tasks."""

import os
import statistics
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.cli import options, task_build, task_recipes

if TYPE_CHECKING:
    from harness.task.layout import TaskFiles
    from harness.task.problems import InvalidTaskError
    from harness.task.reference import Reference
    from harness.task.task import Task

GAP_COLUMNS = ("min gap", "mean", "median", "max")

#: Overrides --tasks, so that one can say `pgdl task validate DIR`.
directory_argument = click.argument("directory", required=False, metavar="[DIR]", type=click.Path(path_type=Path))


@click.group(name="task")
def command() -> None:
    """List, show, validate and build tasks.

    A task is a set of trained models, one for each combination of some hyperparameters, and the data that
    they were trained on. DIR holds tasks or is itself one; without it, --tasks is taken.
    """


command.add_command(task_build.command)
command.add_command(task_recipes.command)


@command.command(name="list")
@directory_argument
@options.tasks
def list_tasks(directory: Path | None, tasks_dir: Path) -> None:
    """Name the tasks in DIR with their models, hyperparameters and generalization gaps; is each hidden?"""
    from harness.task.layout import find_all
    from harness.task.reference import read_reference

    rows = []
    for files in find_all(directory or tasks_dir):
        reference = read_reference(files.reference) if files.reference else None
        hyperparameters = ", ".join(reference.grid.names) if reference else "unknown"
        gaps = list(reference.gaps.values()) if reference else []
        n_models = len(gaps) if files.reference_only else len(files.models)
        hidden = "yes" if files.hidden else "no"
        rows.append((files.name, files.layout, hidden, n_models, hyperparameters, *_summarise(gaps), _size(files)))
    _print_table(("task", "layout", "hidden", "models", "hyperparameters", *GAP_COLUMNS, "size"), rows)


@command.command()
@directory_argument
@options.tasks
@options.task
@click.option("--html", type=click.Path(path_type=Path), metavar="FILE", help="Write a page with plots as well.")
def show(directory: Path | None, tasks_dir: Path, task_names: Sequence[str], html: Path | None) -> None:
    """Show the tasks in DIR: their models and data, and the gaps for each value of each hyperparameter."""
    from harness.task.data import read_training_data
    from harness.task.layout import find_all, find_tasks
    from harness.task.reference import read_reference
    from harness.task.task import read_tasks

    for files in find_all(directory or tasks_dir, task_names):
        hidden = "hidden, " if files.hidden else ""
        click.secho(f"{files.name} ({files.layout}, {hidden}{_size(files)}) in {files.directory}", bold=True)
        if not files.reference_only:
            data = read_training_data(files.train)
            samples = f"{data.n_samples} training samples of shape {data.input_shape} in {data.n_classes} classes"
            click.echo(f"{len(files.models)} models, {samples}")
            click.echo(_architectures(files))
        if files.reference is not None:
            rows = _gaps_by_value(read_reference(files.reference))
            _print_table(("hyperparameter", "value", "models", *GAP_COLUMNS), rows)
        click.echo()
    if html is not None:
        from harness.task.page import write_page

        write_page(read_tasks(find_tasks(directory or tasks_dir, task_names)), html)
        click.echo(f"Wrote {html}")


@command.command()
@directory_argument
@options.tasks
@options.task
@click.pass_context
def validate(ctx: click.Context, directory: Path | None, tasks_dir: Path, task_names: Sequence[str]) -> None:
    """Check everything about the tasks in DIR and print every problem in one line.

    Exit code 2 if there is any. Reference data without models is checked as well: it can be scored, not run.
    """
    from harness.task.layout import find_all
    from harness.task.problems import InvalidTaskError
    from harness.task.task import check_tasks

    everything = find_all(directory or tasks_dir, task_names)
    runnable = [files for files in everything if not files.reference_only]
    checked = {files.name: outcome for files, outcome in zip(runnable, check_tasks(runnable), strict=True)}
    outcomes = {files.name: checked.get(files.name) or _check_reference(files) for files in everything}
    for files in everything:
        outcome = outcomes[files.name]
        if isinstance(outcome, InvalidTaskError):
            click.echo("\n".join(outcome.problems))
        click.echo(f"{files.name}: {_verdict(outcome, files)}")
        for line in _notes(outcome):
            click.echo(f"{files.name}: note: {line}")
    ctx.exit(2 if any(isinstance(outcome, InvalidTaskError) for outcome in outcomes.values()) else 0)


def _check_reference(files: "TaskFiles") -> "Reference | InvalidTaskError":
    """Outcome for reference data that comes without models."""
    from harness.task.problems import InvalidTaskError, Problems
    from harness.task.reference import read_reference

    assert files.reference is not None
    problems = Problems()
    reference = problems.attempt(read_reference, files.reference)
    problems.attempt(lambda: files.hidden)
    return InvalidTaskError(problems.lines) if problems.lines or reference is None else reference


def _notes(outcome: "Task | Reference | InvalidTaskError") -> list[str]:
    """What to know of a valid task."""
    from harness.task.notes import notes_of, notes_of_reference
    from harness.task.problems import InvalidTaskError
    from harness.task.task import Task

    if isinstance(outcome, InvalidTaskError):
        return []
    return notes_of(outcome) if isinstance(outcome, Task) else notes_of_reference(outcome)


def _verdict(outcome: "Task | Reference | InvalidTaskError", files: "TaskFiles") -> str:
    from harness.task.problems import InvalidTaskError
    from harness.task.task import Task

    if isinstance(outcome, InvalidTaskError):
        return f"{len(outcome.problems)} problem{'s' if len(outcome.problems) > 1 else ''}: invalid"
    reference = outcome.reference if isinstance(outcome, Task) else outcome
    parts = [f"{len(reference.grid.names)} hyperparameters" if reference else "unknown hyperparameters"]
    if isinstance(outcome, Task):
        parts = [f"{len(outcome.models)} models", *parts, f"{outcome.data.n_samples} training samples"]
    else:
        parts = [f"reference data of {len(outcome.models)} models", *parts, "no models to run"]
    if files.hidden:
        parts.append("hidden")
    return f"{', '.join(parts)}: valid"


def _architectures(files: "TaskFiles") -> str:
    """How many there are, and of which layers they consist."""
    from harness.task.architecture import read_architecture

    read = [read_architecture(model) for model in files.models]
    depths = [len(architecture.canonical["layers"]) for architecture in read]
    kinds = {layer["class_name"] for architecture in read for layer in architecture.canonical["layers"]}
    number = len({architecture.digest for architecture in read})
    return f"{number} architectures of {min(depths)} to {max(depths)} layers: {', '.join(sorted(kinds))}"


def _gaps_by_value(reference: "Reference") -> Iterator[tuple[object, ...]]:
    """A row for all models, then one for each value of each hyperparameter."""
    gaps = list(reference.gaps.values())
    yield ("(all)", "", len(gaps), *_summarise(gaps))
    grid = reference.grid
    for column, name in enumerate(grid.names):
        for code, value in enumerate(grid.values[name]):
            chosen = [gap for gap, codes in zip(gaps, grid.codes, strict=True) if codes[column] == code]
            yield (name if code == 0 else "", value, len(chosen), *_summarise(chosen))


def _summarise(gaps: Sequence[float]) -> tuple[str, ...]:
    """Minimum, mean, median and maximum; dashes for gaps that are not known."""
    if not gaps:
        return ("-",) * len(GAP_COLUMNS)
    return tuple(f"{value:.4f}" for value in (min(gaps), statistics.mean(gaps), statistics.median(gaps), max(gaps)))


def _size(files: "TaskFiles") -> str:
    """Size on disk of everything in the task's directory."""
    n_bytes = float(
        sum(Path(root, name).stat().st_size for root, _, names in os.walk(files.directory) for name in names)
    )
    for unit in ("B", "KiB", "MiB"):
        if n_bytes < 1024:
            return f"{n_bytes:.0f} {unit}"
        n_bytes /= 1024
    return f"{n_bytes:.1f} GiB"


def _print_table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    text = ("task", "layout", "hidden", "hyperparameters", "hyperparameter", "value")
    for column in columns:
        table.add_column(column, justify="left" if column in text else "right")
    for row in rows:
        table.add_row(*map(str, row))
    Console(highlight=False, markup=False).print(table)
