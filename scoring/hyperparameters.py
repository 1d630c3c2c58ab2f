"""Predictions of generalization gaps from hyperparameters alone, by additive fits."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scoring.grid import Grid, Value
from scoring.official import require_official
from scoring.vectors import Vector, as_vectors_of

DECIMALS = 9  #: fits are rounded to 9 decimals, so that fits that are equal in theory are equal


def additive_fit(gap: ArrayLike, grid: Grid) -> Vector:
    """Return the least-squares fit of the gap by an intercept and an effect for each value of each hyperparameter.

    Gaps (train minus test accuracy) and fitted gaps have the shape (n_models,), in the order of the grid.

    Raises:
        ScoreUndefined: the grid has no official score.
        ValueError: wrong length or numbers that are not finite.
    """
    return fit_additively(_exact(gap, grid), grid)


def main_effects(gap: ArrayLike, grid: Grid) -> dict[str, float]:
    """Return hyperparameter -> its effect on the gap, for all hyperparameters with more than one value.

    The effect is the slope of the least-squares line of the gaps over the hyperparameter's values. The values, sorted
    in ascending order with text last, count as equidistant numbers from 0 to 1, so that effects are comparable between
    tasks. Arguments and errors are as for `additive_fit`.
    """
    exact = _exact(gap, grid)
    places = _places(grid)
    return {name: float(place @ exact / (place @ place)) for name, place in places.items()}


def fit_from_effects(of_others: Iterable[Mapping[str, float]], grid: Grid) -> Vector | None:
    """Return gaps up to a constant, (n_models,), predicted from the effects of hyperparameters in other tasks.

    `of_others` has the `main_effects` of each other task (hyperparameter -> effect). Effects are averaged over tasks.
    The result is None if `of_others` lacks every hyperparameter that varies in the grid.
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
    """Return hyperparameter -> position of each model's value, equidistant from -0.5 to 0.5, shape (n_models,)."""
    codes = dict(zip(grid.names, grid.codes.T, strict=True))
    return {name: _ranks(grid.values[name])[codes[name]] for name in grid.varying}


def _ranks(values: Sequence[Value]) -> Vector:
    order = sorted(range(len(values)), key=lambda code: _key(values[code]))
    return np.argsort(order) / (len(values) - 1) - 0.5


def _key(value: Value) -> tuple[bool, float, str]:
    return (False, float(value), "") if isinstance(value, int | float) else (True, 0.0, str(value))


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
    rounded: NDArray[np.float64] = np.round(fitted, DECIMALS)
    return rounded


def degrees_of_freedom(grid: Grid) -> int:
    """Return the number of models minus the number of free parameters of `additive_fit`."""
    return len(grid.models) - 1 - sum(size - 1 for size in grid.sizes)
