"""`pgdl invariance`: evaluates how a task's networks respond to perturbations of their training data."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import pgdl
from harness.cli import as_json, options
from harness.cli.outputs import prepare_directory

if TYPE_CHECKING:
    from rich.console import Console

    from harness.protocols.invariance.evaluate import PerturbedAccuracies
    from harness.protocols.invariance.table import InvarianceLine


@click.command("invariance")
@options.one_task
@options.tasks
@options.models
@click.option(
    "--perturbations", callback=options.parsed(options.parse_names, ()), metavar="NAME[,NAME...]",
    help="rotation, translate_x, translate_y, color_jitter; mixtures of training examples of the same class or of two "
    "classes: of inputs (intra_l0, inter_l0), or in the first hidden layer (intra_l1, inter_l1). Default: all but "
    "intra_l1 and inter_l1.",
)  # fmt: skip
@click.option(
    "--range", "ranges", multiple=True, metavar="NAME=LOW..HIGH",
    help="Range of a perturbation of images, e.g. rotation=-90..90 (degrees), translate_x=-0.25..0.25 (share of the "
    "width); may be repeated. Default: the ranges of Schiff et al. (2021) for CIFAR-10.",
)  # fmt: skip
@click.option(
    "--examples", "n_examples", type=click.IntRange(2), default=2048, show_default=True, metavar="N",
    help="Number of training examples, or pairs of examples, behind each curve; at most all examples of the task.",
)  # fmt: skip
@click.option(
    "--given", callback=options.parsed(options.parse_names, ()), metavar="NAME[,NAME...]",
    help="Hyperparameters to condition on. Default: all that vary, except augmentation_level.",
)  # fmt: skip
@click.option(
    "--least-accuracy", type=options.NumberRange(0, 1), default=0.8, show_default=True, metavar="SHARE",
    help="Models with a lower training accuracy are not compared.",
)  # fmt: skip
@click.option(
    "--sensitivity", is_flag=True, help="Also score random parts of the data, 20 times each, and measure times."
)
@options.seed
@options.withhold
@options.output("curves, scores and plots to this directory.")
@as_json.option
@options.quiet
def command(least_accuracy: float, output: Path | None, form: str, quiet: bool, **asked: Any) -> int:
    """Perturb the training data of TASK more and more, and follow the accuracy of its networks.

    The Gi-score is the area between two cumulative curves of accuracy: the network's, and that of a network that is
    always right. The table shows how well the Gi-score and simpler statistics of the curve predict the generalization
    gap (Schiff et al. 2021). After an interruption, the same command continues. pgdl help invariance explains the
    method and the files of --output.

    Example: pgdl invariance digits_vgg --range rotation=-90..90 --output invariance
    """
    from harness.cli.terminal import Terminal, note, written

    console = as_json.console_of(form, quiet=quiet)
    prepare_directory(output)
    with Terminal(console, quiet=quiet) as progress:
        found = pgdl.invariance(**asked, least_accuracy=least_accuracy, progress=progress)
    for model, reason in found.study.failures.items():
        note(f"{model}: {reason}")
    if form == as_json.JSON:
        as_json.show(found.content, quiet=quiet)
    elif found.study.responses:
        _show(console, found, least_accuracy)
    if found.study.responses and output is not None:
        written(found.write(output), quiet=quiet)
    return 1 if found.study.failures else 0


def _show(console: "Console", found: "PerturbedAccuracies", least_accuracy: float) -> None:
    from harness.protocols.invariance.table import seconds_of_a_score
    from harness.tables import print_lines, print_table

    if found.compared is None:
        _show_scores(console, found)
        return
    left_out = [model for model in found.gaps if model not in found.compared.models]
    if left_out:
        console.print(f"Below a training accuracy of {least_accuracy:g}, not compared: {', '.join(left_out)}")
    headings = ("perturbation", "statistic", "information", "90 % interval", "Kendall")
    rows = [_cells(line, found.lines) for line in found.lines]
    print_table(console, headings, rows, left=headings[:2])
    if found.points:
        headings = ("perturbation", "batches", "information", "deviation", "seconds")
        shown = [
            (p.perturbation, p.n_batches, f"{100 * p.mean:.2f}", f"{100 * p.deviation:.2f}", f"{p.seconds:.3f}")
            for p in found.points
        ]
        print_table(console, headings, shown, left=headings[:1])
    n_examples = next(iter(found.study.responses.values())).n_examples(found.study.perturbations[0])
    milliseconds = 1000 * seconds_of_a_score(found.study)
    given = ", ".join(found.compared.given)
    print_lines(console, [
        f"Of {len(found.compared.models)} models. information: 100 times the official conditional mutual information "
        f"of statistic and gap given two of {given}, the smallest of all pairs. * marks the largest of a perturbation.",
        "Kendall: rank correlation with the gap. All statistics are larger for a worse response.",
        f"Curves of {n_examples:,} training examples. The scores of a curve take {milliseconds:.2f} ms.",
    ])  # fmt: skip


def _cells(line: "InvarianceLine", lines: "Sequence[InvarianceLine]") -> tuple[str, ...]:
    from harness.protocols.invariance.table import TITLES

    if isinstance(line.score, str):
        score, interval = line.score, ""
    else:
        rivals = [other.score for other in lines if other.perturbation == line.perturbation]
        is_largest = line.score.score == max(rival.score for rival in rivals if not isinstance(rival, str))
        score = f"{100 * line.score.score:.2f}{'*' if is_largest else ' '}"
        interval = f"{100 * line.score.low:.1f} to {100 * line.score.high:.1f}"
    return line.perturbation, TITLES[line.statistic], score, interval, f"{line.kendall:.3f}"


def _show_scores(console: "Console", found: "PerturbedAccuracies") -> None:
    from harness.tables import print_lines, print_table

    headings = ("model", *(chosen.name for chosen in found.study.perturbations))
    rows = [
        (model, *(f"{responses.curve(chosen).scores['gi']:.4f}" for chosen in found.study.perturbations))
        for model, responses in found.study.responses.items()
    ]
    print_table(console, headings, rows, left=headings[:1])
    legend = "Gi-scores: 0 for a network that is always right. The task has no gaps to compare the scores with."
    print_lines(console, [legend])
