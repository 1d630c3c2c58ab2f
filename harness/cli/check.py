"""`pgdl check`: a verdict in seconds, from the same sandbox that a full run uses."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from harness.cli import options

if TYPE_CHECKING:
    from rich.console import Console

    from harness.execution.check import Forecast, Trial


@click.command("check")
@click.argument("submission", metavar="SUBMISSION")
@options.tasks
@options.task
@click.option(
    "--models", type=click.IntRange(min=2), default=3, show_default=True, metavar="N",
    help="How many models of each task to try, from the smallest to the largest.",
)  # fmt: skip
@options.execution
def command(submission: str, tasks_dir: Path, task_names: tuple[str, ...], models: int, **execution: Any) -> int:
    """Try SUBMISSION on a few models: outcome, value, time and memory of each, and a forecast of a full run.

    The sandbox and the limits are those of `pgdl run`; nothing is recorded. One call is made twice, to see
    whether the measure is repeatable. Exit code 1 if a call failed.

    Example: pgdl check my_measure.py
    """
    from rich.console import Console

    from harness.cli.setup import prepare, warn
    from harness.execution.check import forecast, try_submission
    from harness.submission import find_submission
    from harness.task.layout import find_tasks
    from harness.task.task import read_tasks

    console = Console(soft_wrap=True)
    found = find_submission(submission)
    setup = prepare(execution)
    tasks = read_tasks(find_tasks(tasks_dir, task_names))
    with console.status("calling the measure"):
        trial = try_submission(found, tasks, setup.settings, setup.lanes, models, warn)
    _print_calls(trial, console)
    expected = forecast(trial, setup.settings, setup.lanes)
    _print_verdict(trial, expected, setup.settings.time_limit_s, console)
    return 0 if trial.passed else 1


def _print_calls(trial: "Trial", console: "Console") -> None:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("task", "model", "parameters", "outcome", "value", "seconds", "memory"):
        table.add_column(heading, justify="left" if heading in ("task", "model", "outcome") else "right")
    for done in trial.done:
        result, call = done.result, done.planned
        value = "-" if result.value is None else f"{result.value:.6g}"
        memory = f"{result.peak_memory_bytes / 1024**2:.0f} MiB"
        size = f"{call.model.n_parameters:,}"
        table.add_row(call.task.name, call.model.id, size, result.outcome, value, f"{result.call_wall_s:.2f}", memory)
    console.print(table)
    failed = next((done for done in trial.done if done.result.message), None)
    if failed is not None:
        console.print(f"\n{failed.planned.model.id}: {failed.result.outcome}: {failed.result.message}", markup=False)
        console.print(failed.result.output_tail.rstrip(), markup=False, style="dim")


def _print_verdict(trial: "Trial", expected: "Forecast", limit: float, console: "Console") -> None:
    name = trial.calls[0].submission.name
    if not trial.passed:
        console.print(
            f"\n{name} does not pass: mend what is shown above and check again.",
            style="bold red",
            markup=False,
        )
        return
    console.print(f"\n{name} passes.", style="bold green", markup=False)
    values = {done.result.value for done in trial.done}
    if len(values) == 1 and len(trial.done) > 1:
        console.print("Warning: the same value for all models tried; such a measure cannot rank them.", style="yellow")
    if not trial.repeatable:
        first, second = trial.done[0].result.value, trial.again.result.value
        text = f"Warning: not repeatable: the same call gave {first!r} and {second!r}. Draw from the seeded generators."
        console.print(text, style="yellow", markup=False)
    risk = f", {expected.at_risk} may exceed {limit:g} s" if expected.at_risk else ""
    console.print(f"A full run: {expected.models} models, about {_duration(expected.seconds)}{risk}.")


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{max(round(seconds), 1)} s"
    minutes = seconds / 60
    return f"{minutes:.0f} min" if minutes < 90 else f"{minutes / 60:.1f} h"
