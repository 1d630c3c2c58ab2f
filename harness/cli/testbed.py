"""`pgdl testbed`: error and diversity of backbones over size, noise and unseen classes, and measures against them."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import pgdl
from harness.cli import as_json, completion, options
from harness.credentials import Address
from harness.printing import say

if TYPE_CHECKING:
    from harness.task.selection import Wanted


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
@options.output("results, tables and plots to this directory.")
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
    of a measure failed. pgdl help testbed explains all of it.

    Example: pgdl testbed digits_half --tasks tasks --data digits --output digits_testbed
    """
    from harness.cli.terminal import Terminal
    from harness.cli.testbed_report import print_consistency, print_summary
    from harness.format.files import make_directory
    from harness.protocols.testbed.settings import SSIM

    if output is not None:
        make_directory(output)
    console = as_json.console_of(form, quiet=quiet)
    with Terminal(console) as progress:
        found = pgdl.testbed(
            task_name, data, tasks_dir=tasks_dir, models=models, ssim=ssim or SSIM, unseen=unseen, weight=weight,
            measures=[one for one in measures if one != options.NONE], results=results,
            execution=options.execution_of(execution), progress=progress,
        )  # fmt: skip
    if form == as_json.JSON:
        if not quiet:
            as_json.show(found.content)
    else:
        print_summary(found.summary, console)
        print_consistency(found.consistency, console)
        if not found.is_sandboxed:
            console.print(pgdl.UNSAFE, style="bold red")
    if output is not None:
        say(f"Written: {', '.join(map(str, found.write(output)))}", err=True)
    return 1 if found.failed_calls or found.failed else 0
