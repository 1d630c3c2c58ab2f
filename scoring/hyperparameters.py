"""Predictions of the gaps from hyperparameters only: additive fits that do not use the networks."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scoring.grid import Grid, Value
from scoring.official import require_official
from scoring.vectors import Vector, as_vectors_of

#: Decimals to which fits are rounded, so that values that differ only by rounding errors are tied.
DECIMALS = 9


def additive_fit(gap: ArrayLike, grid: Grid) -> Vector:
    """Return the least-squares fit of the gap by an intercept and an effect for each value of each hyperparameter.

    Args:
        gap: train accuracy minus test accuracy of each model, shape (n_models,), finite.
        grid: the task's hyperparameters, models in the same order.

    Returns:
        Fitted gap of each model, shape (n_models,).

    Raises:
        ScoreUndefined: the grid has no official score.
        ValueError: wrong length or numbers that are not finite.
    """
    return fit_additively(_exact(gap, grid), grid)


def main_effects(gap: ArrayLike, grid: Grid) -> dict[str, float]:
    """Return the effect of each varying hyperparameter on the gap, from its smallest value to its largest.

    The values in ascending order, text after numbers, have equidistant positions from 0 to 1. The effect is the slope
    of the least-squares line through the gaps of all models over these positions. So effects can be compared between
    tasks with other values.

    Args and errors are those of `additive_fit`.
    """
    exact = _exact(gap, grid)
    places = _places(grid)
    return {name: float(place @ exact / (place @ place)) for name, place in places.items()}


def fit_from_effects(of_others: Iterable[Mapping[str, float]], grid: Grid) -> Vector | None:
    """Return the gaps that the effects in other tasks predict, up to a constant, shape (n_models,).

    The effect of a hyperparameter is the mean over the other tasks that have it under the same name. Returns None if no
    other task has a varying hyperparameter of the grid.
    """
    others = list(of_others)
    known = {name: [one[name] for one in others if name in one] for name in grid.varying}
    shared = [np.mean(found) * _places(grid)[name] for name, found in known.items() if found]
    return np.round(np.sum(shared, axis=0), DECIMALS) if shared else None


def _exact(gap: ArrayLike, grid: Grid) -> Vector:
    exact, _ = as_vectors_of(len(grid.models), gap, gap)
    require_official(grid)
    return exact


def _places(grid: Grid) -> dict[str, Vector]:
    """Return for each varying hyperparameter the position of each model's value, from -0.5 to 0.5, (n_models,)."""
    codes = dict(zip(grid.names, grid.codes.T, strict=True))
    return {name: _ranks(grid.values[name])[codes[name]] for name in grid.varying}


def _ranks(values: Sequence[Value]) -> Vector:
    order = sorted(range(len(values)), key=lambda code: _key(values[code]))
    return np.argsort(order) / (len(values) - 1) - 0.5


def _key(value: Value) -> tuple[bool, float, str]:
    return (False, float(value), "") if isinstance(value, int | float) else (True, 0.0, str(value))


def fit_additively(numbers: NDArray[np.float64], grid: Grid) -> NDArray[np.float64]:
    """Return the least-squares fit by an intercept and an effect of each value of each hyperparameter.

    On a complete grid, the fit is the mean over all models plus the effects of the model's values. The effect of a
    value is the mean over models with the value minus the mean over all models.

    Args:
        numbers: a number for each of the grid's models along the last axis, shape (..., n_models).
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
    """Return the number of models minus the number of free terms of an additive fit."""
    return len(grid.models) - 1 - sum(size - 1 for size in grid.sizes)
