"""The part of a score's spread that comes from the measure's own random draws."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scoring.batches import enough_draws, official_scores
from scoring.conditioning import conditioning
from scoring.grid import Grid
from scoring.official import official_score, require_official
from scoring.streams import stream
from scoring.vectors import Vector, as_vectors_of

N_DRAWS = 1000  #: fewer on large tasks


@dataclass(frozen=True)
class Stability:
    """The official score of a measure that was called several times on some models."""

    score: float  #: official score of the values that count, 0 to 1
    error: float  #: standard deviation of the score over seeds of the measure, all models called anew
    n_repeated: int  #: number of models with several values
    n_unsteady: int  #: number of models with different values from different seeds


def measure_stability(
    measure: ArrayLike, gap: ArrayLike, grid: Grid, repeats: Mapping[str, Sequence[float]]
) -> Stability:
    """Estimate the spread of an official score that comes from the measure's own randomness.

    Each model with repeats gets one of its values, drawn at random, and the score is computed again. Models are called
    with different seeds, so that they contribute independently to the score's variance. The variance is scaled up from
    the repeated models to all models, and by k / (k - 1), because draws from k values have (k - 1) / k of the variance
    of new values. Choose the repeated models at random.

    Args:
        measure: value of each model that counts, shape (n_models,), finite.
        gap: train accuracy minus test accuracy of each model, shape (n_models,), finite.
        grid: the task's hyperparameters, models in the same order.
        repeats: model -> its values from other seeds, the same number for all models, at least one.

    Raises:
        ScoreUndefined: the grid has no official score.
        ValueError: no repeats, unequal numbers of repeats, unknown models, or numbers that are not finite.
    """
    measure, gap = as_vectors_of(len(grid.models), measure, gap)
    require_official(grid)
    models = _positions(repeats, grid)
    values = _values(measure, models, repeats)
    n_repeated, n_values = values.shape
    random = stream("repeated values", 0)
    n_draws = enough_draws(N_DRAWS, measure.size)
    drawn = np.tile(measure, (n_draws, 1))
    drawn[:, models] = values[np.arange(n_repeated), random.integers(n_values, size=(n_draws, n_repeated))]
    variance = official_scores(drawn, gap[None], conditioning(grid)).var()
    scaled = variance * len(grid.models) / n_repeated * n_values / (n_values - 1)
    return Stability(
        score=official_score(measure, gap, grid).score,
        error=float(np.sqrt(scaled)),
        n_repeated=n_repeated,
        n_unsteady=int(np.sum(np.ptp(values, axis=1) > 0)),
    )


def _positions(repeats: Mapping[str, Sequence[float]], grid: Grid) -> list[int]:
    if not repeats:
        raise ValueError("repeats: expected at least one model, found none")
    if unknown := sorted(set(repeats) - set(grid.models)):
        raise ValueError(f"repeats: expected models of the grid, found {', '.join(unknown)}")
    return [grid.models.index(model) for model in repeats]


def _values(measure: Vector, models: list[int], repeats: Mapping[str, Sequence[float]]) -> NDArray[np.float64]:
    """Return all values of each repeated model, first the value that counts: shape (n_repeated, n_values)."""
    lengths = sorted({len(others) for others in repeats.values()})
    if len(lengths) > 1 or lengths[0] < 1:
        found = ", ".join(map(str, lengths))
        raise ValueError(f"repeats: expected the same number of values for each model, at least one, found {found}")
    values = np.column_stack([measure[models], np.array(list(repeats.values()), dtype=np.float64)])
    if not np.isfinite(values).all():
        raise ValueError("repeats: expected finite numbers")
    return values
