"""The plots of a testbed's results."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import xarray as xr

from harness.plots import COLOUR, FAINT, INK, PAPER, Axes, Figure, use_log_scale
from harness.protocols.testbed.summary import COMPARED, SLICES, Consistency, Dimension, TestbedSummary

LABELS = {"size": "weights", "ssim": "SSIM", "unseen": "share of unseen classes"}
_STATISTICS = {"error_mean": "mean error", "error_p10": "10th percentile of the error"}


def draw_marginals(figure: Figure, summary: TestbedSummary) -> None:
    """Plot error rate and 1 - kappa (mean, 10th percentile) along each dimension, with the trade-off point."""
    grid = figure.subplots(2, 3, sharey="row", sharex="col")
    point = summary.point
    places = {"size": point.size, "ssim": point.ssim, "unseen": point.unseen}
    for row, (name, label) in enumerate((("error", "error rate"), ("diversity", "1 - kappa"))):
        for axes, (key, dimension) in zip(grid[row], summary.dimensions.items(), strict=True):
            means, deviations = dimension.marginals[f"{name}_mean"], dimension.marginals[f"{name}_sd"]
            band = (np.clip(means - deviations, 0, None), means + deviations)
            axes.fill_between(dimension.values, *band, color=COLOUR, alpha=0.15, lw=0, label="± deviation over classes")
            axes.plot(dimension.values, means, "o-", color=COLOUR, ms=3, lw=1.2, label="mean")
            lowest = dimension.marginals[f"{name}_p10"]
            axes.plot(dimension.values, lowest, "s--", color=FAINT, ms=2.5, lw=1, label="10th percentile")
            axes.axvline(places[key], color=INK, lw=0.8, ls=":", label="trade-off point")
            scale = np.log if key == "size" else np.asarray
            at = np.interp(scale(places[key]), scale(dimension.values), means)  # a point on the drawn line
            axes.plot([places[key]], [at], "*", color=INK, ms=8, zorder=5)
            _scale(axes, key, dimension)
        grid[row][0].set_ylabel(label)
        grid[row][0].set_ylim(bottom=0)
    for axes, key in zip(grid[1], summary.dimensions, strict=True):
        axes.set_xlabel(LABELS[key])
    handles, labels = grid[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=4, frameon=False)


def draw_kappa_error(figure: Figure, dataset: xr.Dataset, summary: TestbedSummary) -> None:
    """Plot kappa against error rate: classes in cells (model, SSIM, unseen), means of cells, the trade-off point."""
    axes = figure.subplots()
    axes.plot(
        dataset["kappa"].values.ravel(), dataset["error_rate"].values.ravel(), ".", color=FAINT, ms=2, alpha=0.35,
        label="a class in a cell", rasterized=True,
    )  # fmt: skip
    levels = dataset["ssim"].values
    for level, opacity in zip(levels, np.geomspace(0.2, 1, len(levels)), strict=True):
        cells = dataset.sel(ssim=level)
        axes.plot(
            1 - cells["diversity_mean"].values.ravel(), cells["error_mean"].values.ravel(), "o", color=COLOUR, ms=4,
            alpha=opacity, mec="none", label=f"mean of a cell, SSIM {level:g}" if level in levels[[0, -1]] else None,
        )  # fmt: skip
    values = summary.point.values
    axes.plot(
        [1 - values["diversity_mean"]], [values["error_mean"]], "*", color=INK, ms=11, mec=PAPER, mew=0.6,
        label="trade-off point", ls="none",
    )  # fmt: skip
    axes.set(xlabel="kappa of a class against all others", ylabel="error rate", ylim=(-0.02, 1.02))
    axes.legend(frameon=False)
    axes.grid(alpha=0.25, lw=0.5)


def draw_divergences(figure: Figure, summary: TestbedSummary) -> None:
    """Plot the Kullback-Leibler divergence from the origin (`Dimension.origin`) along each dimension."""
    highest = max(*(float(dimension.divergences.max()) for dimension in summary.dimensions.values()), 1e-3)
    for axes, (key, dimension) in zip(figure.subplots(1, 3, sharey=True), summary.dimensions.items(), strict=True):
        axes.plot(dimension.values, dimension.divergences, "o-", color=COLOUR, ms=3, lw=1.2)
        axes.plot(dimension.values[dimension.origin], 0, "o", color=INK, ms=5, mfc=PAPER, label="origin")
        _scale(axes, key, dimension)
        axes.set(xlabel=LABELS[key], ylim=(-0.05 * highest, 1.08 * highest))
    figure.axes[0].set_ylabel("divergence from the origin (nats)")
    figure.axes[0].legend(frameon=False)


def draw_consistency(figure: Figure, measures: Sequence[Consistency]) -> None:
    """Plot the sign-errors of measures on both `SLICES`. Equal measures share a dot; the five best have names."""
    for axes, statistic in zip(figure.subplots(1, 2, sharey=True, sharex=True), COMPARED, strict=True):
        points = [tuple(one.errors[part, statistic] for part in SLICES) for one in measures]
        unique, first, number = np.unique(points, axis=0, return_index=True, return_counts=True)
        axes.axhline(0.5, color=FAINT, lw=0.8, ls=":")
        axes.axvline(0.5, color=FAINT, lw=0.8, ls=":")
        axes.scatter(unique[:, 0], unique[:, 1], s=10 * number, color=COLOUR, alpha=0.6, lw=0)
        best = sorted(range(len(unique)), key=lambda at: (unique[at].sum(), unique[at][0]))[:5]
        _name(axes, [(tuple(unique[at]), measures[first[at]].measure, int(number[at])) for at in best])
        axes.set(title=_STATISTICS[statistic], xlabel="sign-error over SSIM, 0 % unseen classes", xlim=(-0.05, 1.05))
        axes.set_aspect("equal")
    figure.axes[0].set(ylabel="sign-error over unseen classes, SSIM 1", ylim=(-0.05, 1.05))


def _name(axes: Axes, best: Sequence[tuple[tuple[Any, ...], str, int]]) -> None:
    ordered = sorted(best, key=lambda one: -one[0][1])
    for position, (point, name, number) in enumerate(ordered):
        text = name if number == 1 else f"{name} and {number - 1} more"
        axes.annotate(
            text, point, xytext=(0.55, 0.02 + 0.06 * (len(ordered) - 1 - position)), textcoords="axes fraction",
            ha="left", va="bottom", fontsize=6.5,
            arrowprops={"arrowstyle": "-", "color": FAINT, "lw": 0.5, "shrinkB": 2, "relpos": (0, 0.5)},
        )  # fmt: skip


def _scale(axes: Axes, key: str, dimension: Dimension) -> None:
    if key == "size" and len(dimension.values) > 1:
        use_log_scale(axes.xaxis)
    axes.grid(alpha=0.25, lw=0.5)
