"""Predictions of generalization gaps from hyperparameters alone, by additive fits."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scoring.grid import Grid
from scoring.official import official_inputs
from scoring.vectors import Vector

DECIMALS = 9  #: fits are rounded to 9 decimals, so that fits that are equal in theory are equal


def additive_fit(gap: ArrayLike, grid: Grid) -> Vector:
    """Return the least-squares fit of the gap by an intercept and an effect for each value of each hyperparameter.

    Gaps (train minus test accuracy) and fitted gaps have the shape (n_models,), in the order of the grid.

    Raises:
        ScoreUndefined: the grid has no official score.
        ValueError: wrong length or numbers that are not finite.
    """
    exact, _, _ = official_inputs(gap, gap, grid)
    return fit_additively(exact, grid)


def fit_additively(numbers: NDArray[np.float64], grid: Grid) -> NDArray[np.float64]:
    """Return the least-squares fit of numbers (..., n_models) by an intercept and effects of hyperparameters.

    The grid must be complete. Then the effect of a value is the mean over the models with this value minus the mean
    over all models.
    """
    mean = numbers.mean(axis=-1, keepdims=True)
    fitted = np.broadcast_to(mean, numbers.shape).copy()
    for codes in grid.codes.T:
        members = np.eye(codes.max() + 1)[codes]
        fitted += (numbers @ members / members.sum(axis=0) - mean)[..., codes]
    return np.round(fitted, DECIMALS)


def degrees_of_freedom(grid: Grid) -> int:
    """Return the number of models minus the number of free parameters of `additive_fit`."""
    return len(grid.models) - 1 - sum(size - 1 for size in grid.sizes)
