"""`pgdl testbed`: evaluates models as backbones on noise and unseen classes, and compares measures with the result."""

from pathlib import Path
from typing import Any

import click
from rich.console import Console

import pgdl
from harness.cli import as_json, options
from harness.cli.outputs import prepare_directory
from harness.tables import print_lines, print_table

#: Number of measures that the terminal shows. The file of --output has all measures.
SHOWN = 20

#: Heading on the terminal -> name in the file, for each column of the table of means over cells (marginals).
MARGINALS = {
    "error": "error_mean", "error_p10": "error_p10", "1-kappa": "diversity_mean", "1-kappa_p10": "diversity_p10",
    "divergence": "divergence",
}  # fmt: skip


def _numbers(kind: type[float] | type[int], meaning: str) -> Any:
    def parse(text: str) -> tuple[float, ...]:
        try:
            return tuple(sorted(kind(part) for part in text.split(",")))
        except ValueError as error:
            raise ValueError(f"expected {meaning}, found {text!r}") from error

    return options.parsed(parse)


@click.command("testbed")
@options.one_task
@options.data
@options.tasks
@options.models
@click.option(
    "--ssim", callback=_numbers(float, "numbers"), metavar="X[,X...]",
    help="Structural similarities of the noisy test images, including 1. Default: 0.6, 0.65, ... 1.",
)  # fmt: skip
@click.option(
    "--unseen", callback=_numbers(int, "whole numbers"), metavar="N[,N...]",
    help="Numbers of unseen classes, including 0. Default: at most six equal steps up to all unseen classes of DATA.",
)  # fmt: skip
@click.option(
    "--lambda", "weight", type=options.NumberRange(min=0, max=1e9), default=1.0, show_default=True, metavar="X",
    help="Weight of the penalty of the trade-off point.",
)  # fmt: skip
@options.measures
@options.results
@options.output("results, tables and plots to this directory.")
@options.execution
@as_json.option
@options.quiet
def command(
    ssim: tuple[float, ...] | None, measures: tuple[str, ...], output: Path | None, form: str, quiet: bool, **asked: Any
) -> int:
    """Evaluate the models of TASK as frozen backbones of a linear probe (Huang, Yu and Zhang 2025).

    A cell is a combination of model size, noise (as SSIM) and share of unseen classes, which are the classes of DATA
    that are not in the task. DATA is digits, mnist, cifar100 or another dataset of recipes, an .npz file
    (x_train, y_train, x_test, y_test), or a directory (train/CLASS, test/CLASS).

    Prints the trade-off point, means over cells (marginals), and how well measures of the library predict the errors.
    After an interruption, the same command continues. Exit code 1 if a backbone could not be probed, or a call of a
    measure failed. pgdl help testbed explains the method.

    Example: pgdl testbed digits_half --tasks tasks --data digits --output digits_testbed
    """
    from harness.cli.terminal import Terminal, written
    from harness.protocols.testbed.settings import SSIM

    prepare_directory(output)
    console = as_json.console_of(form, quiet=quiet)
    with Terminal(console, quiet=quiet) as progress:
        named = [name for name in measures if name != options.NONE]
        found = pgdl.testbed(ssim=ssim or SSIM, measures=named, **options.with_execution(asked), progress=progress)
    if form == as_json.JSON:
        as_json.show(found.content, quiet=quiet)
    else:
        _show(found, console, output)
        if not found.is_sandboxed:
            console.print(pgdl.UNSAFE, style="bold red")
    if output is not None:
        written(found.write(output), quiet=quiet)
    return 1 if found.failed_calls or found.failed else 0


def _show(found: "pgdl.TestbedResult", console: Console, output: Path | None) -> None:
    content, (place, there, *_) = found.content, found.summary
    console.print(place, style="bold")
    console.print(there)
    rows = [
        [row["dimension"], _value(row["dimension"], row["value"]), *(f"{row[key]:.3f}" for key in MARGINALS.values())]
        for row in content["marginals"]
    ]
    print_table(console, ("dimension", "value", *MARGINALS), rows, left=("dimension",))
    if not (measures := content["consistency"]):
        return
    console.print("sign-errors of measures: 0 orders models as the testbed does, 1 in reverse", style="bold")
    rows = [[name, *(f"{number:.3f}" for number in errors)] for name, *errors in map(dict.values, measures[:SHOWN])]
    print_table(console, tuple(measures[0]), rows, left=("measure",))
    if len(measures) > SHOWN:
        where = "--output DIR writes all of them" if output is None else f"all are in {output / 'consistency.csv'}"
        print_lines(console, [f"and {len(measures) - SHOWN} more: {where}"])


def _value(dimension: str, value: float) -> str:
    if dimension == "size":
        return f"{value:,.0f}"
    return f"{value:.3g}" if dimension == "ssim" else f"{100 * value:.1f} %"
