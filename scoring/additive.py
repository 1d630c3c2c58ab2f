"""The parts of numbers that hyperparameters explain one by one, and what remains."""

import numpy as np
from numpy.typing import NDArray

from scoring.grid import Grid

#: Digits that are kept: rounding errors must not order equal numbers.
DIGITS = 9


def additive_fit(numbers: NDArray[np.float64], grid: Grid) -> NDArray[np.float64]:
    """Return the least-squares fit of numbers by a constant and a term for each value of each hyperparameter.

    Args:
        numbers: one per model in the order of the grid's models, in each row: shape (n_rows, n_models).
        grid: the task's hyperparameters.

    Returns:
        Fitted numbers, shape (n_rows, n_models), rounded to `DIGITS`.
    """
    design = _design(grid)
    fitted: NDArray[np.float64] = np.round(numbers @ (design @ np.linalg.pinv(design)).T, DIGITS)
    return fitted


def degrees_of_freedom(grid: Grid) -> int:
    """Return the number of models less the number of terms of an additive fit."""
    return len(grid.models) - int(np.linalg.matrix_rank(_design(grid)))


def _design(grid: Grid) -> NDArray[np.float64]:
    """1 where a model has a value, else 0, for all values but the first of each: shape (n_models, n_terms)."""
    terms = [codes[:, None] == np.arange(1, size) for codes, size in zip(grid.codes.T, grid.sizes, strict=True)]
    return np.concatenate([np.ones((len(grid.models), 1)), *terms], axis=1, dtype=np.float64)
