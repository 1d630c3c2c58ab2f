"""Kendall's rank correlation of a complexity measure and the gap, overall and granulated."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scoring.errors import ScoreUndefined
from scoring.grid import Grid
from scoring.group_counts import pairs_in_groups
from scoring.vectors import Vector, as_vectors, as_vectors_of


@dataclass(frozen=True)
class GranulatedKendall:
    """Kendall's rank correlation within groups of models that differ in one hyperparameter only."""

    score: float  #: mean of `psi`, from -1 to 1
    #: hyperparameter -> mean correlation over the groups that differ in it alone, if there is such a group
    psi: dict[str, float]


def kendall_tau(measure: ArrayLike, gap: ArrayLike) -> float:
    """Return Kendall's tau-a over all pairs of models, from -1 to 1 (PGDL paper, eq. 4).

    A tied pair adds 0 to the sum, but counts as a pair, so only a measure without ties reaches 1. Values of the measure
    and gaps (train minus test accuracy) are finite, shape (n_models,).

    Raises:
        ScoreUndefined: fewer than two models.
        ValueError: lengths differ, or numbers are not finite.
    """
    measure, gap = as_vectors(measure, gap)
    if measure.size < 2:
        raise ScoreUndefined(f"Kendall's tau: expected at least 2 models, found {measure.size}")
    return float(_taus(measure, gap, np.zeros(measure.size, np.intp))[0])


def granulated_kendall(measure: ArrayLike, gap: ArrayLike, grid: Grid) -> GranulatedKendall:
    """Return the average of Kendall's tau within groups that differ in one hyperparameter (PGDL paper, eq. 5 to 8).

    For each hyperparameter, models that agree in all other hyperparameters form a group, and psi is the mean tau over
    groups of two or more models. The score is the mean psi; eq. 8 prints a sum, but the paper's text says average.
    Cells may be empty. Values of the measure and gaps (train minus test accuracy) are finite, shape (n_models,), in the
    order of the grid.

    Raises:
        ScoreUndefined: no two models differ in one hyperparameter only.
        ValueError: wrong lengths or numbers that are not finite.
    """
    measure, gap = as_vectors_of(len(grid.models), measure, gap)
    psi = {}
    for varied in grid.varying:
        taus = _taus(measure, gap, grid.group_numbers([name for name in grid.names if name != varied]))
        if taus.size:
            psi[varied] = float(taus.mean())
    if not psi:
        raise ScoreUndefined("granulated Kendall: expected models that differ in one hyperparameter only, found none")
    return GranulatedKendall(float(np.mean(list(psi.values()))), psi)


def _taus(measure: Vector, gap: Vector, group: NDArray[np.intp]) -> Vector:
    pairs, sizes = pairs_in_groups(gap, measure, group), np.bincount(group)
    several = sizes > 1
    return 2 * (pairs.alike - pairs.opposite)[several] / (sizes * (sizes - 1))[several]
