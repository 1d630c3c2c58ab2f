"""Least-squares fits with an effect of each value of each hyperparameter, without interactions."""

import numpy as np
from numpy.typing import NDArray

from scoring.grid import Grid

#: Decimals of fitted numbers: fits that are equal but for rounding errors must stay tied.
DECIMALS = 9


def fit_additively(numbers: NDArray[np.float64], grid: Grid) -> NDArray[np.float64]:
    """Return the least-squares fit by an intercept and an effect of each value of each hyperparameter.

    On a complete grid it is the sum of the effects of a model's values: mean of the models with the value minus mean of
    all.

    Args:
        numbers: one for each of the grid's models along the last axis, shape (..., n_models).
        grid: the task's hyperparameters; complete.

    Returns:
        Fitted numbers, shape (..., n_models).
    """
    mean = numbers.mean(axis=-1, keepdims=True)
    fitted = np.broadcast_to(mean, numbers.shape).copy()
    for codes in grid.codes.T:
        members = np.eye(codes.max() + 1)[codes]
        fitted += (numbers @ members / members.sum(axis=0) - mean)[..., codes]
    rounded: NDArray[np.float64] = np.round(fitted, DECIMALS)
    return rounded


def degrees_of_freedom(grid: Grid) -> int:
    """Return the number of models less the number of free terms of an additive fit."""
    return len(grid.models) - 1 - sum(size - 1 for size in grid.sizes)
