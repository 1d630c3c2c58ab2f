"""The summary of a testbed: trade-off point, means along each dimension, divergences, consistency of measures."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from harness.protocols.testbed.results import CELL, STATISTICS
from scoring import TradeOff, divergences_from, inconsistency, trade_off

DIMENSIONS = ("size", "ssim", "unseen")  #: dimensions of the cells: size of the model, SSIM, fraction of unseen classes

Array = NDArray[np.float64]

COMPARED = ("error_mean", "error_p10")  #: statistics of the error rate that measures should predict
SLICES = ("unseen 0 %", "SSIM 1")  #: all cells without unseen classes; all cells without noise
DECIMALS = 9  #: mean errors are rounded to 9 decimals, so that means that are equal in theory are equal


@dataclass(frozen=True)
class Dimension:
    """The results along one dimension of the cells: model size, SSIM, or fraction of unseen classes."""

    values: Array  #: model sizes, SSIM or fractions of unseen classes, ascending
    marginals: Mapping[str, Array]  #: statistic -> mean over the other dimensions, for each of `values`
    divergences: Array  #: Kullback-Leibler divergence from the origin, in nats, for each of `values`
    origin: int  #: index in `values` of the origin: the smallest size, SSIM 1, or no unseen class


def summarize(dataset: xr.Dataset, *, weight: float = 1.0) -> tuple[TradeOff, dict[str, Dimension]]:
    """Return the trade-off point, and the results along `size`, `ssim` and `unseen`. Models of equal size are averaged.

    Args:
        dataset: as `evaluate_task` returns it.
        weight: factor of the penalty in the trade-off, lambda in Huang, Yu and Zhang 2025.
    """
    sizes, group = np.unique(dataset["size"].values, return_inverse=True)
    axes = [sizes.astype(np.float64), dataset["ssim"].values, dataset["unseen"].values]
    cubes = {name: _by_group(dataset[name].values, group) for name in (*STATISTICS, "objective")}
    statistics = {name: cubes[name] for name in STATISTICS}
    point = trade_off(cubes["objective"], *axes, weight=weight, also=statistics)
    dimensions = {}
    for axis, name in enumerate(DIMENSIONS):
        others = tuple(other for other in range(3) if other != axis)
        marginals = {statistic: cube.mean(axis=others) for statistic, cube in statistics.items()}
        origin = len(axes[axis]) - 1 if name == "ssim" else 0
        points = _points(dataset, axis, group)
        dimensions[name] = Dimension(axes[axis], marginals, divergences_from(points, origin), origin)
    return point, dimensions


def _by_group(cells: Array, group: NDArray[np.intp]) -> Array:
    """Average cells (models, SSIM, unseen) over the models of each group, shape (groups, SSIM, unseen)."""
    return np.stack([cells[group == number].mean(axis=0) for number in range(group.max() + 1)])


def _points(dataset: xr.Dataset, axis: int, group: NDArray[np.intp]) -> list[Array]:
    """Return points (error rate, 1 - Cohen's kappa) of classes in cells, shape (n, 2), for each value of `axis`."""
    both = np.stack([dataset["error_rate"].values, 1 - dataset["kappa"].values], axis=-1)
    along = np.moveaxis(both, axis, 0)
    position = group if CELL[axis] == "model" else np.arange(len(along))
    clouds = [along[position == number].reshape(-1, 2) for number in range(position.max() + 1)]
    return [cloud[np.isfinite(cloud).all(axis=1)] for cloud in clouds]


@dataclass(frozen=True)
class Consistency:
    """Sign-errors of a measure: fractions of pairs of models for which measure and error rate disagree on the order."""

    measure: str
    errors: Mapping[tuple[str, str], float]  #: (name in `SLICES`, statistic in `COMPARED`) -> sign-error

    @property
    def mean(self) -> float:
        """Mean of the sign-errors over slices and statistics."""
        return float(np.mean(list(self.errors.values())))


def check_consistency(dataset: xr.Dataset, values: Mapping[str, Mapping[str, float]]) -> list[Consistency]:
    """Return the sign-errors of measures (name -> model id -> value), smallest mean first.

    Raise `ScoreUndefined` for fewer than two models.
    """
    models = dataset["model"].values.tolist()
    marginals = {(part, name): _marginal(dataset, part, name) for part in SLICES for name in COMPARED}
    found = [
        Consistency(
            measure, {which: inconsistency([of[model] for model in models], one) for which, one in marginals.items()}
        )
        for measure, of in values.items()
    ]
    return sorted(found, key=lambda one: (one.mean, one.measure))


def _marginal(dataset: xr.Dataset, part: str, statistic: str) -> NDArray[np.float64]:
    cells = dataset[statistic]
    of_slice = cells.sel(unseen=0).mean("ssim") if part == SLICES[0] else cells.sel(ssim=1).mean("unseen")
    return np.asarray(np.round(of_slice.values, DECIMALS), np.float64)
