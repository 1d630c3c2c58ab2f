"""Kendall's rank correlation of a complexity measure and the gap, overall and granulated."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from scoring.errors import ScoreUndefined
from scoring.grid import Grid
from scoring.vectors import Vector, as_vectors, as_vectors_of, pair_signs


@dataclass(frozen=True)
class GranulatedKendall:
    """Rank correlation within groups that differ in one hyperparameter only.

    Attributes:
        score: mean of `psi`, from -1 to 1.
        psi: mean correlation when only this hyperparameter changes; hyperparameters with one value have none.
    """

    score: float
    psi: dict[str, float]


def kendall_tau(measure: ArrayLike, gap: ArrayLike) -> float:
    """Kendall's tau over all ordered pairs of models, from -1 to 1 (PGDL paper, eq. 4).

    A tie adds 0 but stays in the normalisation (tau-a), so 1 is reached only without ties.

    Args:
        measure: value of the complexity measure for each model, shape (n_models,), finite.
        gap: train accuracy minus test accuracy of each model, shape (n_models,), finite.

    Raises:
        ScoreUndefined: fewer than two models.
        ValueError: different lengths or numbers that are not finite.
    """
    measure, gap = as_vectors(measure, gap)
    if measure.size < 2:
        raise ScoreUndefined(f"Kendall's tau: expected at least 2 models, found {measure.size}")
    return _mean_tau(measure[None], gap[None])


def granulated_kendall(measure: ArrayLike, gap: ArrayLike, grid: Grid) -> GranulatedKendall:
    """Kendall's tau within groups that differ in one hyperparameter, averaged (PGDL paper, eq. 5 to 8).

    For each hyperparameter, models are grouped by all the others; psi is the mean tau over the groups and
    the score is the mean psi over the hyperparameters that have more than one value. Over tasks, too, take
    the mean: eq. 8 prints a sum where the text says average.

    Args:
        measure: value of the complexity measure for each model, shape (n_models,), finite.
        gap: train accuracy minus test accuracy of each model, shape (n_models,), finite.
        grid: the task's hyperparameters, models in the same order.

    Raises:
        ScoreUndefined: no hyperparameter varies.
        ValueError: wrong lengths or numbers that are not finite.
    """
    measure, gap = as_vectors_of(len(grid.models), measure, gap)
    if not grid.varying:
        raise ScoreUndefined("granulated Kendall: expected at least 1 hyperparameter that varies, found none")
    psi = {}
    for varied in grid.varying:
        others = [name for name in grid.names if name != varied]
        psi[varied] = _mean_tau(grid.groups(measure, by=others), grid.groups(gap, by=others))
    return GranulatedKendall(float(np.mean(list(psi.values()))), psi)


def _mean_tau(measure: Vector, gap: Vector) -> float:
    """Mean tau of the rows, shape (n_groups, n_members)."""
    n_groups, n_members = measure.shape
    agreement = np.sum(pair_signs(measure) * pair_signs(gap), dtype=np.int64)
    return float(agreement / (n_groups * n_members * (n_members - 1)))
