"""`pgdl overfit`: tests whether models have been fitted to their test set."""

from pathlib import Path
from typing import Any

import click

import pgdl
from harness.cli import as_json, options
from harness.cli.outputs import prepare_directory


def _parse_epsilon(text: str) -> tuple[int, ...]:
    from harness.protocols.overfit.settings import parse_radii  # here: `pgdl overfit --help` needs no NumPy

    return parse_radii(text)


@click.command("overfit")
@options.one_task
@options.tasks
@options.models
@click.option(
    "--epsilon", "radii", callback=options.parsed(_parse_epsilon, ()), metavar="N|N,N,...|N..N",
    help="Largest shifts in pixels, e.g. 3 or 1,2,4 or 1..5. Default: 1..5, as far as the images allow.",
)  # fmt: skip
@click.option(
    "--split", type=click.Choice(["test", "train"]), default="test", show_default=True,
    help="Examples to test. train is the positive control: the models have been fitted to the training examples.",
)  # fmt: skip
@click.option(
    "--generator", type=click.Choice(["strongest", "nearest"]), default="strongest", show_default=True,
    help="Shift to use if the model errs on several: the shift with the largest margin, or the nearest shift.",
)  # fmt: skip
@click.option(
    "--edges", type=click.Choice(["black", "wrap"]), default="black", show_default=True,
    help="Filling of the edge that a shift uncovers: black, or the pixels pushed out on the other side.",
)  # fmt: skip
@options.withhold
@options.output("the table and plots to this directory.")
@as_json.option
@options.quiet
def command(output: Path | None, form: str, quiet: bool, **asked: Any) -> int:
    """Test whether the models of TASK have been fitted to its test set.

    Correctly classified images are shifted, by at most epsilon pixels, to images on which the model errs. If models and
    images are independent, the importance-weighted error rate on these images estimates the same risk as the ordinary
    error rate. A difference beyond chance shows that models depend on the images (Werpachowski et al., 2019; pgdl help
    overfitting). Models are tested one by one, in groups of the same architecture, and all together.

    After an interruption, the same command continues. Exit code 1 if a model cannot be run.

    Example: pgdl overfit digits_vgg --epsilon 1..2 --output overfit
    """
    from harness.cli.terminal import Terminal, note, written

    console = as_json.console_of(form, quiet=quiet)
    prepare_directory(output)
    with Terminal(console, quiet=quiet) as progress:
        result = pgdl.overfit(**asked, progress=progress)
    for model, error in result.failures.items():
        note(f"{model}: {error}")
    if form == as_json.JSON:
        as_json.show(result.content, quiet=quiet)
    elif result.rows:
        result.show(console)
    if result.rows and output is not None:
        written(result.write(output), quiet=quiet)
    return 1 if result.failures else 0
