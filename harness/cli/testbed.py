"""`pgdl testbed`: error and diversity of backbones over size, noise and unseen classes, and measures against them."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from harness.cli import as_json, completion, options
from harness.credentials import Address
from harness.printing import say

if TYPE_CHECKING:
    import xarray as xr
    from rich.console import Console

    from harness.api.calls import Run
    from harness.protocols.testbed.consistency import Consistency
    from harness.protocols.testbed.probing import ProbeReport
    from harness.task.some_models import Wanted


def _numbers(kind: type[float] | type[int]) -> Any:
    def parse(context: click.Context, parameter: click.Parameter, value: str | None) -> tuple[float, ...] | None:
        if value is None:
            return None
        try:
            return tuple(sorted(kind(part) for part in value.split(",")))
        except ValueError as error:
            expected = "numbers" if kind is float else "whole numbers"
            raise click.BadParameter(f"expected {expected}, found {value!r}", context, parameter) from error

    return parse


@click.command("testbed")
@click.argument("task_name", metavar="TASK", shell_complete=completion.tasks)
@options.data
@options.tasks
@options.models
@click.option(
    "--ssim", callback=_numbers(float), metavar="X[,X...]",
    help="Structural similarities of the noisy test images, 1 among them. Default: 0.6, 0.65, ... 1.",
)  # fmt: skip
@click.option(
    "--unseen", callback=_numbers(int), metavar="N[,N...]",
    help="Numbers of unseen classes, 0 among them. Default: at most six equal steps up to all that DATA has.",
)  # fmt: skip
@click.option(
    "--lambda", "weight", type=click.FloatRange(min=0, max=1e9), default=1.0, show_default=True, metavar="X",
    help="Weight of the penalty of the trade-off point.",
)  # fmt: skip
@options.measures
@options.results
@options.output
@options.execution
@as_json.option
@options.quiet
def command(
    task_name: str,
    data: str,
    tasks_dir: Path,
    models: "Wanted",
    ssim: tuple[float, ...] | None,
    unseen: tuple[int, ...] | None,
    weight: float,
    measures: tuple[str, ...],
    results: Address,
    output: Path | None,
    form: str,
    quiet: bool,
    **execution: Any,
) -> int:
    """Evaluate the models of TASK as frozen backbones of a linear probe (Huang, Yu and Zhang 2025).

    Cells are every combination of size, noise (by SSIM) and share of classes that the backbones have not seen: those
    of DATA that are not in the task. DATA is digits, mnist, cifar100 or another dataset of recipes, an .npz file
    (x_train, y_train, x_test, y_test), or a directory (train/CLASS, test/CLASS).

    Prints the trade-off point and marginals, and how well measures of the library agree with them. Finished
    backbones and calls are kept; the same command continues. Exit code 1 if a backbone could not be probed, or a call
    of a measure failed. docs/testbed.md explains all of it.

    Example: pgdl testbed digits_half --tasks tasks --data digits --output digits_testbed
    """
    from harness.cli.testbed_report import findings_object, print_consistency, print_summary, write_files
    from harness.format.files import make_directory
    from harness.protocols.testbed.run import evaluate_task
    from harness.protocols.testbed.settings import SSIM, ProbeSettings
    from harness.protocols.testbed.summary import summarize
    from harness.task.hidden import Withhold

    settings = ProbeSettings(ssim or SSIM, unseen, execution["seed"])
    wanted = [one for one in measures if one != options.NONE]
    if output is not None:
        make_directory(output)
    console = as_json.console_of(form, quiet=quiet)
    run = _prepare(wanted, tasks_dir, task_name, execution, console) if wanted else None
    withhold = Withhold(execution["withhold"])
    dataset = evaluate_task(tasks_dir, task_name, data, settings, models, withhold, _report(console))
    summary = summarize(dataset, weight=weight)
    if form != as_json.JSON:
        print_summary(summary, console)
    consistent, failures = _check(run, dataset, results, console) if run else ([], 0)
    if form != as_json.JSON:
        print_consistency(consistent, console)
    elif not quiet:
        as_json.show(findings_object(dataset, summary, consistent))
    if output is not None:
        written = write_files(dataset, summary, consistent, output)
        say(f"Written: {', '.join(map(str, written))}", err=True)
    return 1 if failures or json.loads(dataset.attrs["failed"]) else 0


def _prepare(
    measures: Sequence[str], tasks_dir: Path, task_name: str, execution: dict[str, Any], console: "Console"
) -> "Run":
    """Prepare the calls of measures."""
    from harness.api.calls import prepare_run
    from harness.api.comparisons import choose_measures
    from harness.cli.terminal import Terminal

    chosen = [one.submission for one in choose_measures(measures)]
    with Terminal(console) as progress:
        return prepare_run(chosen, tasks_dir, [task_name], options.execution_of(execution), progress)


def _check(run: "Run", dataset: "xr.Dataset", results: Address, console: "Console") -> "tuple[list[Consistency], int]":
    """Call measures on the probed models, and compare their values with the testbed; returns the failed calls, too."""
    from dataclasses import replace

    from harness.api import UNSAFE
    from harness.api.calls import record_calls
    from harness.cli.terminal import Terminal, warn
    from harness.outcome import Outcome
    from harness.protocols.testbed.consistency import check_consistency
    from harness.records import Records

    probed = dataset["model"].values.tolist()
    if len(probed) < 2:
        warn("consistency of measures: expected at least 2 models, found 1")
        return [], 0
    (task,) = run.tasks
    run = replace(run, tasks=[replace(task, models=tuple(model for model in task.models if model.id in probed))])
    with Records(results) as records, Terminal(console) as progress:
        plan, _ = record_calls(run, records, progress)
        rows = list(records.newest([call.key for call in plan.calls]))
    values: dict[str, dict[str, float]] = {submission.name: {} for submission in run.submissions}
    for row in rows:
        if row.outcome == Outcome.OK:
            values[row.submission][row.model] = row.value
    failed = {name: len(probed) - len(of) for name, of in values.items() if len(of) < len(probed)}
    for name, number in failed.items():
        warn(f"{name} is left out: no value on {number} of {len(probed)} models; pgdl results lists the reasons")
    if not run.setup.executor.is_sandboxed:
        console.print(UNSAFE, style="bold red")
    complete = {name: of for name, of in values.items() if name not in failed}
    return check_consistency(dataset, complete), sum(failed.values())


def _report(console: "Console") -> "ProbeReport":
    from harness.cli.steps import Steps
    from harness.protocols.testbed.probing import ProbeReport

    return ProbeReport(
        say=lambda line: console.print(line, style="dim"),
        steps=lambda name, total: Steps(console, name, total),
    )
