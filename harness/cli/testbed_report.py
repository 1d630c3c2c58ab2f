"""The findings of a testbed on the terminal."""

from collections.abc import Iterator, Sequence

from rich.console import Console

from harness.api.testbeds import errors, slices
from harness.protocols.testbed.consistency import Consistency
from harness.protocols.testbed.summary import TestbedSummary
from harness.tables import print_lines, print_table

#: Measures shown on the terminal; the file has all.
SHOWN = 20

_HEADINGS = ("dimension", "value", "error", "error_p10", "1-kappa", "1-kappa_p10", "divergence")


def print_summary(summary: TestbedSummary, console: Console) -> None:
    """Print the trade-off point and the marginals."""
    point = summary.point
    console.print(
        f"trade-off point: SSIM {point.ssim:.3f}, {100 * point.unseen:.1f} % unseen classes, {point.size:,.0f} weights",
        style="bold",
    )
    console.print(
        f"there: mean error M_g {point.values['error_mean']:.3f} (generalization bound), "
        f"mean 1-kappa M_k {point.values['diversity_mean']:.3f} (diversity bound), objective {point.objective:.3f}"
    )
    rows = [
        [name, _value(name, value), *(f"{one:.3f}" for one in numbers)] for name, value, numbers in _marginals(summary)
    ]
    print_table(console, _HEADINGS, rows, left=("dimension",))


def print_consistency(measures: Sequence[Consistency], console: Console) -> None:
    """Print the measures, the most consistent first."""
    if not measures:
        return
    console.print(
        "sign-errors of measures: 0 orders the models as the testbed does, 1 the other way round", style="bold"
    )
    rows = [[one.measure, *(f"{number:.3f}" for number in errors(one))] for one in measures[:SHOWN]]
    print_table(console, ("measure", *slices(), "mean"), rows, left=("measure",))
    if len(measures) > SHOWN:
        print_lines(console, [f"and {len(measures) - SHOWN} more: --output DIR writes all of them"])


def _marginals(summary: TestbedSummary) -> Iterator[tuple[str, float, list[float]]]:
    for name, dimension in summary.dimensions.items():
        shown = [dimension.marginals[one] for one in ("error_mean", "error_p10", "diversity_mean", "diversity_p10")]
        for at, value in enumerate(dimension.values):
            yield name, value, [*(float(one[at]) for one in shown), float(dimension.divergences[at])]


def _value(dimension: str, value: float) -> str:
    if dimension == "size":
        return f"{value:,.0f}"
    return f"{value:.3g}" if dimension == "ssim" else f"{100 * value:.1f} %"
