"""`pgdl task`: list, show, validate, hide, build, import and fetch tasks."""

import click

from harness.cli import task_build, task_fetch, task_import, task_show


@click.group(name="task")
def command() -> None:
    """List, show, validate, hide, build, import and fetch tasks.

    A task is a set of trained models, one for each combination of some hyperparameters, and the data that they were
    trained on. DIR contains tasks or is a task itself; default: the directory of --tasks.
    """


for one in (
    task_show.list_command, task_show.show_command, task_show.validate_command, task_show.hide_command,
    task_build.command, task_build.recipes, task_import.command, task_fetch.known, task_fetch.command,
):  # fmt: skip
    command.add_command(one)
