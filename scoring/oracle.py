"""The noisy oracle: a reference measure that returns the generalization gap itself plus noise."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scoring.batches import enough_draws, official_scores
from scoring.grid import Grid
from scoring.official import official_inputs
from scoring.streams import stream
from scoring.vectors import Vector

ORACLE_NOISE = 0.02  #: standard deviation, in units of accuracy, as in Jiang et al. 2019
ORACLE_DRAWS = 400  #: number of draws, fewer on large tasks; the score of a single draw varies by several points


def noisy_oracle(gap: ArrayLike, noise: float = ORACLE_NOISE, seed: int = 0) -> NDArray[np.float64]:
    """Return the gaps plus normal noise with the standard deviation `noise`; the same `seed` gives the same noise."""
    exact = np.asarray(gap, dtype=np.float64)
    return exact + stream("oracle", seed).normal(0.0, noise, size=exact.shape)


def oracle_scores(gap: ArrayLike, grid: Grid, seed: int = 0) -> Vector:
    """Return the official score of the noisy oracle for each draw of the noise, 0 to 1, shape (n_draws,).

    Gaps (train minus test accuracy) are finite, shape (n_models,), in the order of the grid. Use another `seed` for
    each task.

    Raises:
        ScoreUndefined: the grid has no official score.
        ValueError: wrong length or numbers that are not finite.
    """
    exact, _, cond = official_inputs(gap, gap, grid)
    draws = noisy_oracle(np.tile(exact, (enough_draws(ORACLE_DRAWS, exact.size), 1)), seed=seed)
    return official_scores(draws, exact[None], cond)
