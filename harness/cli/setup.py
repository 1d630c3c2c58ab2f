"""From options to settings, shared by the commands that run calls."""

from dataclasses import dataclass
from typing import Any

import click

from harness.execution.budget import TimeBudget
from harness.execution.machine import Lanes, plan_lanes
from harness.execution.settings import Settings, Starts
from harness.sandbox.devices import find_gpus
from harness.sandbox.docker import Docker
from harness.sandbox.isolation import Isolation
from harness.sandbox.limits import Limits, default_memory_bytes
from harness.sandbox.probe import require_sandbox

UNSAFE = "NOT SANDBOXED (--unsafe-no-sandbox): for your own code only; these results never rank."


@dataclass(frozen=True)
class Setup:
    """How calls will be run."""

    settings: Settings
    lanes: Lanes


def prepare(options: dict[str, Any]) -> Setup:
    """Turn the options of `options.execution` into settings; refuses where there is no sandbox.

    Raises `UserError` with the command that mends it.
    """
    memory = options["memory_bytes"] or default_memory_bytes(len(find_gpus()))
    isolation, mode = _isolation(options), options["sandbox_mode"]
    containers = Docker(options["docker_image"], options["docker_runtime"])
    settings = Settings(
        limits=Limits(memory_bytes=memory),
        time_limit_s=options["time_limit"],
        time_budget=TimeBudget(options["time_budget"]),
        seed=options["seed"],
        keras=int(options["keras"]) if options["keras"] else None,
        isolation=isolation,
        docker=containers if isolation is Isolation.DOCKER else None,
        starts=Starts.AUTO if mode == Isolation.DOCKER else Starts(mode),
    )
    if settings.docker is not None:
        settings.docker.require()
    elif settings.sandboxed:
        require_sandbox()
    else:
        click.secho(UNSAFE, err=True, fg="red", bold=True)
    return Setup(settings, plan_lanes(options["workers"], memory))


def _isolation(options: dict[str, Any]) -> Isolation:
    if options["unsafe_no_sandbox"]:
        return Isolation.NONE
    return Isolation.DOCKER if options["sandbox_mode"] == Isolation.DOCKER else Isolation.BUBBLEWRAP


def warn(message: str) -> None:
    """Say what does not work here, in one line on standard error."""
    click.secho(f"pgdl: {message}", err=True, fg="yellow")
