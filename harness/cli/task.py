"""`pgdl task`: list, show, validate, build, import and fetch tasks."""

import click

from harness.cli import (
    task_build,
    task_fetch,
    task_import,
    task_known,
    task_list,
    task_recipes,
    task_show,
    task_validate,
)


@click.group(name="task")
def command() -> None:
    """List, show, validate, build, import and fetch tasks.

    A task is a set of trained models, one for each combination of some hyperparameters, and the data that
    they were trained on. DIR contains tasks or is a task itself; default: the directory of --tasks.
    """


modules = (task_list, task_show, task_validate, task_build, task_recipes, task_import, task_known, task_fetch)
for module in modules:
    command.add_command(module.command)
