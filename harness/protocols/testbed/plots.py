"""The plots of a testbed's results."""

from collections.abc import Mapping

import numpy as np

from harness.plots import COLOUR, FAINT, INK, PAPER, Axes, Figure, use_log_scale
from harness.protocols.testbed.summary import Dimension
from scoring import TradeOff

LABELS = {"size": "weights", "ssim": "SSIM", "unseen": "share of unseen classes"}


def draw_marginals(figure: Figure, dimensions: Mapping[str, Dimension], point: TradeOff) -> None:
    """Plot mean, deviation and 10th percentile of error rate and 1 - kappa along each dimension; mark the trade-off."""
    grid = figure.subplots(2, 3, sharey="row", sharex="col")
    places = {"size": point.size, "ssim": point.ssim, "unseen": point.unseen}
    for row, (name, label) in enumerate((("error", "error rate"), ("diversity", "1 - kappa"))):
        for axes, (key, dimension) in zip(grid[row], dimensions.items(), strict=True):
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
    for axes, key in zip(grid[1], dimensions, strict=True):
        axes.set_xlabel(LABELS[key])
    handles, labels = grid[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=4, frameon=False)


def draw_divergences(figure: Figure, dimensions: Mapping[str, Dimension]) -> None:
    """Plot the Kullback-Leibler divergence from the origin (`Dimension.origin`) along each dimension."""
    highest = max(*(float(dimension.divergences.max()) for dimension in dimensions.values()), 1e-3)
    for axes, (key, dimension) in zip(figure.subplots(1, 3, sharey=True), dimensions.items(), strict=True):
        axes.plot(dimension.values, dimension.divergences, "o-", color=COLOUR, ms=3, lw=1.2)
        axes.plot(dimension.values[dimension.origin], 0, "o", color=INK, ms=5, mfc=PAPER, label="origin")
        _scale(axes, key, dimension)
        axes.set(xlabel=LABELS[key], ylim=(-0.05 * highest, 1.08 * highest))
    figure.axes[0].set_ylabel("divergence from the origin (nats)")
    figure.axes[0].legend(frameon=False)


def _scale(axes: Axes, key: str, dimension: Dimension) -> None:
    if key == "size" and len(dimension.values) > 1:
        use_log_scale(axes.xaxis)
    axes.grid(alpha=0.25, lw=0.5)
