"""Confidence intervals of scores."""

import numpy as np
from numpy.typing import NDArray

from scoring.vectors import Vector

UPPER = 0.975  #: the upper end is not below this quantile of the draws: low scores vary less than the truth would


def score_intervals(scores: Vector, draws: NDArray[np.float64], critical: float) -> NDArray[np.float64]:
    """Lower and upper end of each score's interval, shape (n, 2).

    Scores near 0 are skewed; their square roots are much less so. The interval is symmetric on that scale, but for the
    bound of its upper end. docs/certainty.md shows how often it holds the mean score of trainings.

    Args:
        scores: shape (n,), 0 or more.
        draws: scores of other trainings, shape (n_draws, n) (`retrained_scores`).
        critical: half the interval in standard errors.
    """
    roots, errors = np.sqrt(scores), critical * np.sqrt(draws).std(axis=0, ddof=1)
    low, high = np.maximum(roots - errors, 0) ** 2, (roots + errors) ** 2
    return np.stack([low, np.maximum(high, np.quantile(draws, UPPER, axis=0))], axis=1)
