"""Confidence intervals of scores."""

import numpy as np
from numpy.typing import NDArray

from scoring.vectors import Vector


def score_intervals(
    scores: Vector, spread: NDArray[np.float64], critical: float, highest: float
) -> NDArray[np.float64]:
    """Lower and upper end of each score's interval, shape (n, 2).

    Scores near 0 are skewed; their square roots are much less so. The interval is symmetric on that scale. Of the
    constructions that were tried it covers best: the table is in docs/statistics.md.

    Args:
        scores: shape (n,), 0 or more.
        spread: deviations of the scores when each model is left out, shape (n_deletions, n) (`model_spread`).
        critical: half the interval in standard errors.
        highest: ends above this are cut, unless the score itself is.
    """
    roots = np.sqrt(scores)
    errors = np.linalg.norm(np.sqrt(np.maximum(scores + spread, 0)) - roots, axis=0)
    low, high = np.maximum(roots - critical * errors, 0) ** 2, (roots + critical * errors) ** 2
    return np.stack([low, np.minimum(high, np.maximum(highest, scores))], axis=1)
