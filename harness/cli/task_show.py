"""`pgdl task list`, `show`, `validate` and `hide`: describe, check and mark the tasks in a directory."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

import pgdl
from harness.cli import as_json, options
from harness.cli.outputs import prepare_directory
from harness.printing import say
from harness.text import counted, size


@click.command("list")
@options.directory
@options.tasks
@as_json.option
@options.withhold
def list_command(directory: Path | None, tasks_dir: Path, form: str, withhold: str) -> None:
    """List the tasks in DIR: models, hyperparameters, generalization gaps, and whether they are hidden.

    Hyperparameters and gaps of hidden tasks are not shown.
    """
    from harness.outcome import WITHHELD
    from harness.tables import print_table, wide_console
    from harness.task.summary import GAP_COLUMNS, gap_cells

    found = [asdict(one) for one in pgdl.list_tasks(directory or tasks_dir, withhold)]
    if form == as_json.JSON:
        as_json.show(found)
        return
    rows = [
        (
            one["task"],
            "yes" if one["hidden"] else "no",
            one["models"],
            *gap_cells(one["gaps"]),
            "-" if one["bytes"] is None else size(one["bytes"]),
            (WITHHELD if one["withheld"] else "unknown")
            if one["hyperparameters"] is None
            else ", ".join(one["hyperparameters"]),
        )
        for one in found
    ]
    headings = ("task", "hidden", "models", *GAP_COLUMNS, "size", "hyperparameters")
    print_table(wide_console(), headings, rows, left=("task", "hidden"), wrap=("hyperparameters",))


@click.command("show")
@options.directory
@options.tasks
@options.task
@options.html("a page with plots to this file.")
@as_json.option
@options.withhold
def show_command(
    directory: Path | None, tasks_dir: Path, task_names: Sequence[str], html: Path | None, form: str, withhold: str
) -> None:
    """Show the tasks in DIR: their models and data, and the gaps for each value of each hyperparameter.

    Of a task whose models are still being trained, only name and directory are shown; of a hidden task, also its layout
    and the number of models. The page of --html shows no task of these two kinds.
    """
    from harness.task.layout import command_to_continue

    root = directory or tasks_dir
    prepare_directory(html and html.parent)
    found = pgdl.show_tasks(root, task_names, withhold, html)
    if form == as_json.JSON:
        as_json.show(found)
    else:
        for task in found:
            if task["layout"] == "not finished":
                say(f"{task['task']} (not finished) in {task['directory']}", bold=True)
                say(f"{command_to_continue(root)} continues", "")
            else:
                _print(task)
    if html is not None:
        say(f"Wrote {html}", err=True)


@click.command("validate")
@options.directory
@options.tasks
@options.task
@as_json.option
@options.withhold
def validate_command(
    directory: Path | None, tasks_dir: Path, task_names: Sequence[str], form: str, withhold: str
) -> int:
    """Check the tasks in DIR, and print a line for each problem.

    Exit code 2 if there is a problem. A valid task may have notes, for instance on the smallest difference of scores
    that it can show, or that the official score is not defined on it. A fetched, built or imported task is compared
    with the digests that were written with it. Reference data without models are checked as well; they serve for
    scoring, but not for runs. For hidden tasks, only the number of problems is printed.
    """
    found = pgdl.validate_tasks(directory or tasks_dir, task_names, withhold)
    if form == as_json.JSON:
        as_json.show([
            {"task": one.task, "valid": not one.problems, "problems": one.problems, "notes": one.notes} for one in found
        ])  # fmt: skip
    else:
        for one in found:
            notes = [f"{one.task}: note: {line}" for line in one.notes]
            say(*one.problems, f"{one.task}: {one.verdict}", *notes)
    return 2 if any(one.problems for one in found) else 0


@click.command("hide")
@options.one_task
@options.tasks
def hide_command(task_name: str, tasks_dir: Path) -> None:
    """Mark TASK as hidden: participants learn nothing about it except rounded scores.

    Mark a task before its first run: earlier records keep their messages. To remove the mark, delete the printed file.
    """
    written = pgdl.hide_task(task_name, tasks_dir)
    say(f"{task_name} is hidden already." if written is None else f"{task_name} is hidden from now on: wrote {written}")


def _print(task: Mapping[str, Any]) -> None:

    facts = [task["layout"], *["hidden"] * task["hidden"], *([] if task["withheld"] else [size(task["bytes"])])]
    say(f"{task['task']} ({', '.join(facts)}) in {task['directory']}", bold=True)
    if task["withheld"]:
        say(f"{task['models']} models; all else is withheld", "")
        return
    if (data := task.get("training_data")) is not None:
        built = task["architectures"]
        samples = f"{data['samples']} training samples of shape {data['input_shape']} in {data['classes']} classes"
        say(f"{task['models']} models, {samples}")
        fewest, most = built["fewest_layers"], built["most_layers"]
        layers = f"{counted(most, 'layer') if fewest == most else f'{fewest} to {most} layers'}: "
        layers += ", ".join(built["kinds"])
        say(f"{counted(built['number'], 'architecture')} of {layers}; outputs are {', '.join(built['outputs'])}")
    if (origin := task.get("fetched")) is not None:
        here, there, source = origin["models"], origin["models_in_archive"], origin["source"]
        part = f"{source}, whole" if here == there else f"a part of {source}: {here} of {there} models"
        say(f"{part}; from {origin['url']}")
    _print_gaps(task)
    say()


def _print_gaps(task: Mapping[str, Any]) -> None:
    from harness.tables import print_table, wide_console
    from harness.task.summary import GAP_COLUMNS, gap_rows

    if "gaps_by_value" not in task:
        return
    rows = gap_rows(task["gaps"], task["gaps_by_value"])
    headings = ("hyperparameter", "value", "models", *GAP_COLUMNS)
    print_table(wide_console(), headings, rows, left=("hyperparameter", "value"))
    if (error := task.get("gap_error")) is not None:
        share = error["share"]
        of_variance = f", {share:.0%} of the variance of the gaps" if share is not None and share < 1 else ""
        say(f"standard error of a gap: {error['standard_error']:.4f}, from {error['n_test']} test samples{of_variance}")
        if share == 1:
            say("The noise of the test set explains all differences between these gaps.")
