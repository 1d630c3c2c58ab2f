"""Spearman's rank correlation of a complexity measure and the gap."""

import numpy as np
from numpy.typing import ArrayLike

from scoring.errors import ScoreUndefined
from scoring.vectors import as_vectors


def spearman_rho(measure: ArrayLike, gap: ArrayLike) -> float:
    """Correlation of the ranks, from -1 to 1; equal values share the mean of their ranks.

    Where all values or all gaps are equal there is nothing to correlate, and the result is 0.

    Args:
        measure: value of the complexity measure for each model, shape (n_models,), finite.
        gap: train accuracy minus test accuracy of each model, shape (n_models,), finite.

    Raises:
        ScoreUndefined: fewer than two models.
        ValueError: different lengths or numbers that are not finite.
    """
    from scipy.stats import rankdata  # its import takes a second, which few need

    measure, gap = as_vectors(measure, gap)
    if measure.size < 2:
        raise ScoreUndefined(f"Spearman's rho: expected at least 2 models, found {measure.size}")
    x, y = (rankdata(values) - (values.size + 1) / 2 for values in (measure, gap))
    scale = np.sqrt((x @ x) * (y @ y))
    return float(np.clip(x @ y / scale, -1, 1)) if scale > 0 else 0.0
