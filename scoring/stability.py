"""How much a score varies with the measure's own random draws."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scoring.batches import enough_draws, official_scores
from scoring.grid import Grid
from scoring.official import official_inputs, official_score
from scoring.streams import stream
from scoring.vectors import Vector

N_DRAWS = 1000  #: number of draws of the values; fewer on large tasks


@dataclass(frozen=True)
class Stability:
    """The official score of a measure, and the score's spread over the measure's seeds."""

    score: float  #: official score of the first values, 0 to 1
    error: float  #: standard deviation of the score if the measure is called with new seeds on all models
    n_repeated: int  #: number of models with repeated calls
    n_unsteady: int  #: number of models whose value depends on the seed


def measure_stability(
    measure: ArrayLike, gap: ArrayLike, grid: Grid, repeats: Mapping[str, Sequence[float]]
) -> Stability:
    """Estimate how much an official score varies with the measure's own random numbers.

    On some models, chosen at random, the measure was called again with other seeds, so each of them has k values. In
    each draw, every such model gets one of its values at random, and the score is computed anew. The variance of these
    scores is multiplied by n_models / (number of models with repeats), and by k / (k - 1), since draws from k values
    vary less than new values.

    Gaps (train minus test accuracy), and the measure's values from the first seed, are finite, shape (n_models,), in
    the order of the grid. `repeats` maps model -> its k - 1 values from other seeds; k >= 2 is equal for all models.

    Raises:
        ScoreUndefined: the grid has no official score.
        ValueError: no repeats, unequal numbers of repeats, unknown models, or numbers that are not finite.
    """
    measure, gap, cond = official_inputs(measure, gap, grid)
    models = _positions(repeats, grid)
    values = _values(measure, models, repeats)
    n_repeated, n_values = values.shape
    random = stream("repeated values", 0)
    n_draws = enough_draws(N_DRAWS, measure.size)
    drawn = np.tile(measure, (n_draws, 1))
    drawn[:, models] = values[np.arange(n_repeated), random.integers(n_values, size=(n_draws, n_repeated))]
    variance = official_scores(drawn, gap[None], cond).var()
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
    lengths = sorted({len(others) for others in repeats.values()})
    if len(lengths) > 1 or lengths[0] < 1:
        found = ", ".join(map(str, lengths))
        raise ValueError(f"repeats: expected the same number of values for each model, at least one, found {found}")
    values = np.column_stack([measure[models], np.array(list(repeats.values()), dtype=np.float64)])
    if not np.isfinite(values).all():
        raise ValueError("repeats: expected finite numbers")
    return values
