"""`pgdl task build` and `recipes`: train a task from a recipe, and list the recipes."""

import statistics
from typing import TYPE_CHECKING, Any

import click

import pgdl
from harness.cli import as_json, options
from harness.shell import typed
from harness.text import counted

if TYPE_CHECKING:
    from rich.console import Console

#: Exit code if a model could not be trained.
UNFINISHED = 3


@click.command("build")
@click.argument("recipe", metavar="RECIPE")
@options.output("the task into this directory of tasks.", required=True)
@options.workers
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="Train only the first N models, for a trial.")
@click.option(
    "--resume/--no-resume", default=True, show_default=True,
    help="Reuse the models that an earlier run of the same recipe has finished, or start the unfinished task from "
    "scratch.",
)  # fmt: skip
@as_json.option
def command(form: str, **asked: Any) -> int:
    """Train every model of RECIPE's grid, and write a task in the competition's layout.

    RECIPE is a file, or a name that pgdl task recipes lists. Finished models are kept however the run ends; the same
    command trains the remaining models, and damaged models anew. Exit code 3 if a model could not be trained.

    Example: pgdl task build digits_vgg --output my_tasks
    """
    from harness.cli.build_progress import BuildProgress

    console = as_json.console_of(form)
    found = pgdl.build_task(
        **asked, tell=console.print, show=lambda recipe, number: BuildProgress(recipe, number, console)
    )
    if found.trained:
        rate = f"{found.seconds / 60:.1f} min: {3600 * found.trained / found.seconds:.0f} per hour"
        console.print(f"{counted(found.trained, 'model')} in {rate}")
    code = _print_state(found, console)
    if form == as_json.JSON:
        as_json.show(found.content)
    return code


def _print_state(found: "pgdl.BuildResult", console: "Console") -> int:
    build = found.build
    if found.seconds and (gaps := found.gaps):  # not of a task that was finished already
        spread = f"min {min(gaps):.4f}, median {statistics.median(gaps):.4f}, max {max(gaps):.4f}"
        console.print(f"gaps of {counted(len(gaps), 'model')}: {spread}")
    if found.unreached:
        names = ", ".join(f"model_{number}" for number in found.unreached)
        console.print(f"{counted(len(found.unreached), 'model')} did not reach the criterion: {names}")
    if found.failed or found.refused:
        remedy = "change the recipe (learning rate, epochs, criterion, size of the networks), or try again"
        console.print(f"The task is not complete: {remedy}.")
        return UNFINISHED
    if not build.is_finished:
        finished = f"{len(found.records)} of {len(build.recipe.cells)} models are finished in {build.building}"
        console.print(f"{finished}; without --limit the same command completes the task.")
    else:
        wrote = f"Wrote {build.task}. " if found.seconds else ""  # without training, a line says `finished already`
        console.print(f"{wrote}Next: {typed('pgdl', 'task', 'show', str(build.task.parent.parent))}")
    return 0


@click.command("recipes")
@as_json.option
def recipes(form: str) -> None:
    """List the recipes in the package; `pgdl task build` accepts their names."""
    from harness.tables import print_table, wide_console

    headings = ("recipe", "models", "data", "description")
    rows = [(name, len(one.cells), one.data.source, one.description) for name, one in pgdl.recipes().items()]
    if form == as_json.JSON:
        as_json.show([dict(zip(headings, row, strict=True)) for row in rows])
    else:
        print_table(wide_console(), headings, rows, left=("recipe", "data", "description"))
