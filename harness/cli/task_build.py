"""`pgdl task build`: trains a task from a recipe."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.cli import as_json, completion, options
from harness.shell import typed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from harness.corpus.build import Build


#: Exit code if a model could not be trained.
UNFINISHED = 3


@click.command("build")
@click.argument("recipe", metavar="RECIPE", shell_complete=completion.recipes)
@options.required_output
@options.workers
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="Train only the first N models, for a trial.")
@click.option(
    "--resume/--no-resume", default=True, show_default=True,
    help="Reuse the models that an earlier run of the same recipe has finished, or start from scratch.",
)  # fmt: skip
@as_json.option
def command(recipe: str, output: Path, workers: int | None, limit: int | None, resume: bool, form: str) -> int:
    """Train every model of RECIPE's grid, and write a task in the competition's layout.

    RECIPE is a file, or the name of a recipe in the package, as listed by pgdl task recipes. Finished models are kept
    however the run ends; the same command trains the remaining ones. Exit code 3 if a model could not be trained.

    Example: pgdl task build digits_vgg --output my_tasks
    """
    from harness.corpus.build import Build
    from harness.corpus.catalogue import find_recipe
    from harness.corpus.recipe import read_recipe

    console = as_json.console_of(form)
    build = Build(read_recipe(find_recipe(recipe)), output)
    if not build.is_finished:
        with build.alone():
            if not build.is_finished:  # by another command, meanwhile
                return _build(build, console, workers, limit, resume=resume, form=form)
    console.print(f"{build.task} is finished already")
    _show(build, [], form)
    return 0


def _build(
    build: "Build", console: "Console", workers: int | None, limit: int | None, *, resume: bool, form: str
) -> int:
    """Train the missing models; returns the exit code."""
    import time

    from harness.cli.build_progress import models
    from harness.cores import available_cores
    from harness.sandbox import find_gpus
    from scoring import MINIMUM_HYPERPARAMETERS

    cells, grid = build.recipe.cells, build.recipe.grid
    if len(grid) < MINIMUM_HYPERPARAMETERS:
        needed = f"the official score needs {MINIMUM_HYPERPARAMETERS} hyperparameters, this grid has {len(grid)}"
        console.print(f"Note: {needed}.")
    if not resume:
        build.forget()
    build.begin()
    finished = build.records()
    missing = [cell.number for cell in cells[:limit] if cell.number not in finished]
    if finished:
        console.print(f"{len(finished)} of {len(cells)} models are finished already")
    at_once = workers or len(find_gpus()) or max(available_cores() // build.recipe.threads, 1)
    number = min(at_once, max(len(missing), 1))
    started = time.monotonic()
    failed = _train(build, missing, number, console) if missing else []
    if missing:
        trained, hours = len(missing) - len(failed), (time.monotonic() - started) / 3600
        console.print(f"{models(trained)} in {60 * hours:.1f} min: {trained / hours:.0f} per hour")
    code = _close(build, failed, console)
    _show(build, failed, form)
    return code


def _show(build: "Build", failed: "Sequence[int]", form: str) -> None:
    """Print the state of the build for programs; models by their numbers in the task."""
    if form == as_json.JSON:
        records = build.records()
        models = [
            {"model": number, "reached": record["reached"], "metrics": record["metrics"], "epochs": record["epochs"]}
            for number, record in sorted(records.items())
        ]
        state = {"task": build.recipe.name, "finished": build.is_finished, "directory": build.task}
        as_json.show(state | {"models": models, "expected_models": len(build.recipe.cells), "failed": failed})


def _train(build: "Build", missing: "Sequence[int]", workers: int, console: "Console") -> list[int]:
    """Train models and show the progress; returns the cells that could not be trained."""
    from contextlib import closing

    from harness.cli.build_progress import BuildProgress

    failed = []
    try:
        with (
            BuildProgress(build.recipe, len(missing), console) as progress,
            closing(build.train(list(missing), workers)) as events,
        ):
            for event in events:
                progress.seen(event)
                if event.kind == "failed":
                    failed.append(event.cell)
    except KeyboardInterrupt:
        finished = f"{len(build.records())} of {len(build.recipe.cells)} models are finished"
        console.print(f"{finished}; the same command resumes the build.")
        raise
    return failed


def _close(build: "Build", failed: "Sequence[int]", console: "Console") -> int:
    """Print the state of the build, and assemble the task if all models are finished; returns the exit code."""
    import statistics

    from harness.cli.build_progress import models, not_reached

    recipe, records = build.recipe, build.records()
    unreached = [number for number, record in sorted(records.items()) if not record["reached"]]
    gaps = [record["metrics"]["train_acc"] - record["metrics"]["test_acc"] for record in records.values()]
    if gaps:
        spread = f"min {min(gaps):.4f}, median {statistics.median(gaps):.4f}, max {max(gaps):.4f}"
        console.print(f"gaps of {models(len(gaps))}: {spread}")
    if line := not_reached(records):
        console.print(line)
    refused = [number for number in unreached if recipe.cells[number].training.unreached == "error"]
    if failed or refused:
        console.print("The task is not complete: change the recipe (learning rate, epochs, criterion), or try again.")
        return UNFINISHED
    if len(records) < len(recipe.cells):
        console.print(f"{len(records)} of {len(recipe.cells)} models are finished in {build.building}; "
                      "without --limit the same command completes the task.")  # fmt: skip
        return 0
    build.finish()
    console.print(
        f"Wrote {build.task}. Next: {typed('pgdl', 'task', 'show', str(build.task.parent.parent))}", markup=False
    )
    return 0
