"""`pgdl check`: a verdict in seconds, from the same sandbox that a full run uses."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from harness.cli import options

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from harness.execution.check import Forecast, Trial
    from harness.execution.pool import Done


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
    whether the measure is repeatable. Of hidden tasks only outcomes are counted. Exit code 1 if a call failed.

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
    files = find_tasks(tasks_dir, task_names)
    setup = prepare(execution, files)
    tasks = read_tasks(files)
    withheld = [task.name for task in tasks if setup.settings.withhold.covers(task.hidden)]
    with console.status("calling the measure"):
        trial = try_submission(found, tasks, setup.settings, setup.lanes, models, warn)
    shown = [done for done in trial.done if done.planned.task.name not in withheld]
    if shown:
        _print_calls(shown, console)
    if withheld:
        _print_counts(trial, withheld, console)
    _print_verdict(trial, console)
    if trial.passed and not withheld:
        _print_advice(trial, forecast(trial, setup.settings, setup.lanes), setup.settings.time_limit_s, console)
    return 0 if trial.passed else 1


def _print_counts(trial: "Trial", withheld: "Sequence[str]", console: "Console") -> None:
    """Say how many calls had which outcome, and nothing else."""
    from collections import Counter

    from harness.cli.summary import WITHHELD_NOTE

    calls = (*trial.done, trial.again)
    for task in withheld:
        outcomes = Counter(str(done.result.outcome) for done in calls if done.planned.task.name == task)
        counts = ", ".join(f"{number} {outcome}" for outcome, number in sorted(outcomes.items()))
        console.print(f"{task}: {counts}", markup=False)
    console.print(WITHHELD_NOTE.format(", ".join(withheld)), style="dim", markup=False, highlight=False)


def _print_calls(shown: "Sequence[Done]", console: "Console") -> None:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("task", "model", "parameters", "outcome", "value", "seconds", "memory"):
        table.add_column(heading, justify="left" if heading in ("task", "model", "outcome") else "right")
    for done in shown:
        result, call = done.result, done.planned
        value = "-" if result.value is None else f"{result.value:.6g}"
        memory = f"{result.peak_memory_bytes / 1024**2:.0f} MiB"
        size = f"{call.model.n_parameters:,}"
        table.add_row(call.task.name, call.model.id, size, result.outcome, value, f"{result.call_wall_s:.2f}", memory)
    console.print(table)
    failed = next((done for done in shown if done.result.message), None)
    if failed is not None:
        console.print(f"\n{failed.planned.model.id}: {failed.result.outcome}: {failed.result.message}", markup=False)
        console.print(failed.result.output_tail.rstrip(), markup=False, style="dim")


def _print_verdict(trial: "Trial", console: "Console") -> None:
    name = trial.calls[0].submission.name
    if trial.passed:
        console.print(f"\n{name} passes.", style="bold green", markup=False)
    else:
        text = f"\n{name} does not pass: mend it and check again."
        console.print(text, style="bold red", markup=False)


def _print_advice(trial: "Trial", expected: "Forecast", limit: float, console: "Console") -> None:
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
