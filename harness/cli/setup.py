"""From options to settings, shared by the commands that run calls."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from harness.cache import cache_directory
from harness.errors import UserError
from harness.execution.budget import TimeBudget
from harness.execution.executor import Executor
from harness.execution.executors import EXECUTORS
from harness.execution.settings import Settings
from harness.sandbox import KINDS, Kind, Limits, choose_kind, default_memory_bytes, find_gpus
from harness.task.hidden import Withhold
from harness.task.layout import TaskFiles, hidden_names

#: The value of --sandbox that leaves the choice to the harness.
AUTO = "auto"

UNSAFE = "NOT SANDBOXED (--unsafe-no-sandbox): for your own code only; these results never rank."


@dataclass(frozen=True)
class Setup:
    """Settings and executor of a run."""

    settings: Settings
    executor: Executor


def prepare(options: dict[str, Any], tasks: Sequence[TaskFiles]) -> Setup:
    """Turn the options of `options.execution` into a setup.

    Raises `UserError` with a remedy if no sandbox works, if `auto` could only choose weaker isolation for a hidden
    task, or if tasks or the cache are in directories that submissions can read.
    """
    limits = Limits(memory_bytes=options["memory_bytes"] or default_memory_bytes(len(find_gpus())))
    settings = Settings(
        limits=limits,
        time_limit_s=options["time_limit"],
        time_budget=TimeBudget(options["time_budget"]),
        seed=options["seed"],
        runtime=options["runtime"],
        withhold=Withhold(options["withhold"]),
    )
    kind = _choose_kind(options, hidden_names(tasks))
    executor = EXECUTORS[options["executor"]](kind, limits, options["workers"])
    executor.require_unseen([*_private_files(tasks), cache_directory("staged")])
    return Setup(settings, executor)


def _private_files(tasks: Sequence[TaskFiles]) -> Iterator[Path]:
    """Yield the directories and files of tasks, and the links in them, which may point elsewhere."""
    for task in tasks:
        yield from (task.directory, *([task.reference] if task.reference else []), *task.marks)
        yield from (path for path in task.directory.rglob("*") if path.is_symlink())


def _choose_kind(options: dict[str, Any], hidden: Collection[str]) -> Kind:
    """Return the requested kind of sandbox; `auto` may choose weaker isolation, but never for a hidden task."""
    name = options["sandbox_mode"]
    if options["unsafe_no_sandbox"]:
        if name != AUTO:
            raise UserError(f"--unsafe-no-sandbox and --sandbox {name} contradict each other", remedy="leave one out")
        if hidden:
            remedy = "leave it out, or choose other tasks with --task"
            raise UserError(f"--unsafe-no-sandbox: not with hidden tasks ({', '.join(sorted(hidden))})", remedy=remedy)
        click.secho(UNSAFE, err=True, fg="red", bold=True)
        name = "none"
    if name == AUTO:
        return choose_kind(warn, may_promise_less=not hidden)
    parameters = {one.name: options[f"{name}_{one.name}"] for one in KINDS[name].parameters}
    kind = KINDS[name](**parameters)
    kind.require()
    return kind


def warn(message: str) -> None:
    """Print a warning, in one line on standard error."""
    click.secho(f"pgdl: {message}", err=True, fg="yellow")


def note(message: str) -> None:
    """Print a note, in one line on standard error."""
    click.echo(f"pgdl: {message}", err=True)
