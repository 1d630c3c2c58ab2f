"""`pgdl task show`: a description of each task."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from harness.cli import as_json, options
from harness.errors import UserError, writing
from harness.printing import say

if TYPE_CHECKING:
    from harness.corpus.build import Build
    from harness.task.hidden import Withhold
    from harness.task.layout import TaskFiles


@click.command("show")
@options.directory
@options.tasks
@options.task
@options.html
@as_json.option
@options.withhold
def command(
    directory: Path | None, tasks_dir: Path, task_names: Sequence[str], html: Path | None, form: str, withhold: str
) -> None:
    """Show the tasks in DIR: their models and data, and the gaps for each value of each hyperparameter.

    Of tasks whose models are still being trained the finished ones are shown. Of hidden tasks only the number of models
    is shown. The HTML leaves both out.
    """
    from harness.cli.task_unfinished import build_object, print_build
    from harness.task.hidden import Withhold
    from harness.task.incomplete import command_to_continue
    from harness.task.layout import TaskDirectory

    root = directory or tasks_dir
    everything = _builds(root)
    found = TaskDirectory(root).all(task_names, [build.recipe.name for build in everything])
    builds = [build for build in everything if not task_names or build.recipe.name in task_names]
    unfinished = [command_to_continue(root, build.recipe.name) for build in builds]
    shown = [] if html is None else _for_page(found, unfinished, Withhold(withhold), html)
    if form == "json":
        as_json.show([_as_object(files, Withhold(withhold)) for files in found] + [*map(build_object, builds)])
    else:
        for files in found:
            _print(files, Withhold(withhold))
        for build in builds:
            print_build(build, root)
    if html is not None:
        from harness.task.page import write_page
        from harness.task.task import read_tasks

        tasks = read_tasks(shown)
        with writing(html):
            write_page(tasks, html)
        say(f"Wrote {html}", err=True)


def _for_page(found: "list[TaskFiles]", unfinished: list[str], withhold: "Withhold", html: Path) -> "list[TaskFiles]":
    """Return the tasks of the page; raises `UserError` if there is none. `unfinished`: commands that continue."""
    from harness.task.hidden import REMEDY

    whole = [files for files in found if not files.reference_only]
    if not whole:
        kinds = ["reference data"] * bool(found) + ["tasks that are not finished"] * bool(unfinished)
        remedy = f"continue with: {unfinished[0]}" if unfinished else "leave out --html"
        only = f"only {' and '.join(kinds)}"
        raise UserError("nothing to write", file=html, expected="a task with models", found=only, remedy=remedy)
    shown = [files for files in whole if not withhold.covers(files.hidden)]
    if not shown:
        raise UserError("nothing to write: all tasks are hidden", file=html, remedy=REMEDY)
    return shown


def _builds(root: Path) -> "list[Build]":
    """Return the builds in `root` that are not finished."""
    from harness.format.layout import BUILDING

    if not (root / BUILDING).is_dir():
        return []
    from harness.corpus.unfinished import find_builds

    return find_builds(root)


def _print(files: "TaskFiles", withhold: "Withhold") -> None:
    from harness.cli.task_gaps import print_gaps
    from harness.format.reference import read_reference
    from harness.task.contents import count_test_samples, origin_of
    from harness.task.data import read_training_data
    from harness.task.summary import architectures, summarise
    from harness.text import size

    summary = summarise(files, withhold)
    hidden = "hidden, " if summary.hidden else ""
    say(f"{files.name} ({files.layout}, {hidden}{size(summary.bytes)}) in {files.directory}", bold=True)
    if summary.withheld:
        say(f"{summary.models} models; all else is withheld", "")
        return
    if not files.reference_only:
        data, built = read_training_data(files.train), architectures(files)
        samples = f"{data.n_samples} training samples of shape {data.input_shape} in {data.n_classes} classes"
        say(f"{summary.models} models, {samples}")
        layers = f"{built.fewest_layers} to {built.most_layers} layers: {', '.join(built.kinds)}"
        say(f"{built.number} architectures of {layers}; outputs are {', '.join(built.outputs)}")
    origin = origin_of(files)
    if origin is not None:
        say(f"{origin.part or f'{origin.source}, whole'}; from {origin.url}")
    if files.reference is not None:
        print_gaps(read_reference(files.reference), count_test_samples(files.test))
    say()


def _as_object(files: "TaskFiles", withhold: "Withhold") -> dict[str, Any]:
    from harness.cli.task_gaps import gaps_object
    from harness.format.reference import read_reference
    from harness.task.contents import count_test_samples, origin_of
    from harness.task.data import read_training_data
    from harness.task.summary import architectures, summarise

    content: dict[str, Any] = asdict(summarise(files, withhold)) | {"directory": str(files.directory)}
    if content["withheld"]:
        return content
    if not files.reference_only:
        data = read_training_data(files.train)
        content["training_data"] = {
            "samples": data.n_samples,
            "input_shape": data.input_shape,
            "classes": data.n_classes,
            "digest": data.digest,
        }
        content["architectures"] = asdict(architectures(files))
    origin = origin_of(files)
    if origin is not None:
        content["fetched"] = {key: value for key, value in asdict(origin).items() if key != "files"}
    if files.reference is not None:
        content |= gaps_object(read_reference(files.reference), count_test_samples(files.test))
    return content
