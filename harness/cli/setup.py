"""From options to settings, shared by the commands that run calls."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from harness.cache import cache_directory
from harness.errors import UserError
from harness.execution.budget import TimeBudget
from harness.execution.machine import Lanes, plan_lanes
from harness.execution.settings import Settings, Starts
from harness.execution.withhold import Withhold
from harness.sandbox.devices import find_gpus
from harness.sandbox.docker import Docker
from harness.sandbox.isolation import Isolation
from harness.sandbox.landlock import landlock_problem
from harness.sandbox.limits import Limits, default_memory_bytes
from harness.sandbox.probe import choose_isolation, require, sandbox_problem
from harness.sandbox.shown import require_unseen
from harness.task.layout import TaskFiles, hidden_names

UNSAFE = "NOT SANDBOXED (--unsafe-no-sandbox): for your own code only; these results never rank."


@dataclass(frozen=True)
class Setup:
    """How calls will be run."""

    settings: Settings
    lanes: Lanes


def prepare(options: dict[str, Any], tasks: Sequence[TaskFiles]) -> Setup:
    """Turn the options of `options.execution` into settings; refuses where there is no sandbox.

    For hidden tasks no weaker isolation is taken unasked; what lies where submissions could read it is refused.
    Raises `UserError` with what mends it.
    """
    memory = options["memory_bytes"] or default_memory_bytes(len(find_gpus()))
    isolation, mode = _isolation(options, hidden_names(tasks)), options["sandbox_mode"]
    require_unseen([*_private_files(tasks), cache_directory("staged")], isolation)
    containers = Docker(options["docker_image"], options["docker_runtime"])
    settings = Settings(
        limits=Limits(memory_bytes=memory),
        time_limit_s=options["time_limit"],
        time_budget=TimeBudget(options["time_budget"]),
        seed=options["seed"],
        keras=int(options["keras"]) if options["keras"] else None,
        isolation=isolation,
        docker=containers if isolation is Isolation.DOCKER else None,
        withhold=Withhold(options["withhold"]),
        starts=Starts.AUTO if mode in list(Isolation) else Starts(mode),
    )
    if settings.docker is not None:
        settings.docker.require()
    return Setup(settings, plan_lanes(options["workers"], memory))


def _private_files(tasks: Sequence[TaskFiles]) -> Iterator[Path]:
    """The directories and files of tasks, and the links in them, which may lead elsewhere."""
    for task in tasks:
        yield from (task.directory, *([task.reference] if task.reference else []), *task.marks)
        yield from (path for path in task.directory.rglob("*") if path.is_symlink())


def _isolation(options: dict[str, Any], hidden: Collection[str]) -> Isolation:
    """What the options ask for; only `auto` may take less than bubblewrap, and says so; never with a hidden task."""
    mode = options["sandbox_mode"]
    if options["unsafe_no_sandbox"]:
        if mode != Starts.AUTO:
            raise UserError(f"--unsafe-no-sandbox and --sandbox {mode} contradict each other", remedy="leave one out")
        if hidden:
            remedy = "leave it out, or name other tasks by --task"
            raise UserError(f"--unsafe-no-sandbox: not with hidden tasks ({', '.join(sorted(hidden))})", remedy=remedy)
        click.secho(UNSAFE, err=True, fg="red", bold=True)
        return Isolation.NONE
    if mode == Isolation.DOCKER:
        return Isolation.DOCKER
    if mode == Isolation.LANDLOCK:
        require(landlock_problem())
        return Isolation.LANDLOCK
    if mode == Starts.AUTO and not hidden:
        return choose_isolation(warn)
    require(sandbox_problem())
    return Isolation.BUBBLEWRAP


def warn(message: str) -> None:
    """Say what does not work here, in one line on standard error."""
    click.secho(f"pgdl: {message}", err=True, fg="yellow")


def note(message: str) -> None:
    """Say what is worth knowing, in one line on standard error."""
    click.echo(f"pgdl: {message}", err=True)
