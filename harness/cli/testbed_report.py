"""The findings of a testbed on the terminal and in files."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console

from harness.plots import Figure, new_figure, write_pictures
from harness.protocols.files import write_csv
from harness.protocols.testbed import plots
from harness.protocols.testbed.consistency import COMPARED, SLICES, Consistency
from harness.protocols.testbed.results import STATISTICS, write_dataset
from harness.protocols.testbed.summary import TestbedSummary
from harness.tables import print_lines, print_table

if TYPE_CHECKING:
    import xarray as xr

#: Measures shown on the terminal; the file has all.
SHOWN = 20

_COLUMNS = ("dimension", "value", *STATISTICS, "divergence")
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
    rows = [[one.measure, *(f"{number:.3f}" for number in _errors(one))] for one in measures[:SHOWN]]
    print_table(console, ("measure", *_slices(), "mean"), rows, left=("measure",))
    if len(measures) > SHOWN:
        print_lines(console, [f"and {len(measures) - SHOWN} more: --output DIR writes all of them"])


def write_files(
    dataset: "xr.Dataset", summary: TestbedSummary, measures: Sequence[Consistency], directory: Path
) -> list[Path]:
    """Write the dataset, tables and plots to an existing directory, and return their paths."""
    written = [
        write_dataset(dataset, directory / "testbed.nc"),
        write_csv(directory / "marginals.csv", _COLUMNS, _all_marginals(summary))
    ]  # fmt: skip
    if measures:
        table = [[one.measure, *_errors(one)] for one in measures]
        written.append(write_csv(directory / "consistency.csv", ("measure", *_slices(), "mean"), table))
    return [*written, *_plot(dataset, summary, measures, directory)]


def findings_object(dataset: "xr.Dataset", summary: TestbedSummary, measures: Sequence[Consistency]) -> dict[str, Any]:
    """Return the findings for programs: the tables of the files, the trade-off point, and what could not be probed."""
    return {
        "point": asdict(summary.point),
        "marginals": [dict(zip(_COLUMNS, row, strict=True)) for row in _all_marginals(summary)],
        "consistency": [
            {"measure": one.measure} | dict(zip((*_slices(), "mean"), _errors(one), strict=True)) for one in measures
        ],
        "failed": json.loads(dataset.attrs["failed"]),
    }


def _all_marginals(summary: TestbedSummary) -> list[list[object]]:
    return [
        [name, value, *(dimension.marginals[one][at] for one in STATISTICS), dimension.divergences[at]]
        for name, dimension in summary.dimensions.items()
        for at, value in enumerate(dimension.values)
    ]


def _plot(
    dataset: "xr.Dataset", summary: TestbedSummary, measures: Sequence[Consistency], directory: Path
) -> Iterator[Path]:
    drawings: dict[str, tuple[float, float, Callable[[Figure], None]]] = {
        "marginals": (8.0, 4.6, lambda figure: plots.draw_marginals(figure, summary)),
        "kappa_error": (5.0, 4.0, lambda figure: plots.draw_kappa_error(figure, dataset, summary)),
        "divergences": (8.0, 2.6, lambda figure: plots.draw_divergences(figure, summary)),
    }
    if measures:
        drawings["consistency"] = (7.6, 4.3, lambda figure: plots.draw_consistency(figure, measures))
    for name, (width, height, draw) in drawings.items():
        with new_figure(width, height) as figure:
            draw(figure)
            yield from write_pictures(figure, directory / name)


def _marginals(summary: TestbedSummary) -> Iterator[tuple[str, float, list[float]]]:
    for name, dimension in summary.dimensions.items():
        shown = [dimension.marginals[one] for one in ("error_mean", "error_p10", "diversity_mean", "diversity_p10")]
        for at, value in enumerate(dimension.values):
            yield name, value, [*(float(one[at]) for one in shown), float(dimension.divergences[at])]


def _value(dimension: str, value: float) -> str:
    if dimension == "size":
        return f"{value:,.0f}"
    return f"{value:.3g}" if dimension == "ssim" else f"{100 * value:.1f} %"


def _slices() -> list[str]:
    return [f"{part}: {statistic}" for part in SLICES for statistic in COMPARED]


def _errors(one: Consistency) -> list[float]:
    return [*(one.errors[part, statistic] for part in SLICES for statistic in COMPARED), one.mean]
