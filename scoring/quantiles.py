"""Quantiles of the normal distribution and of Student's t."""

import numpy as np
from numpy.typing import NDArray

from scoring.batches import ranks


def normal_scores(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Replace the numbers of each row (n_rows, n) by normal quantiles of their ranks; ties share the mean rank."""
    from scipy.special import ndtri  # this import takes longer than computing all scores

    low = ranks(rows).astype(np.float64)
    high = rows.shape[1] - 1 - ranks(-rows).astype(np.float64)
    return ndtri(((low + high) / 2 + 0.5) / rows.shape[1])


def student_quantile(freedom: int, probability: float) -> float:
    """Return the quantile of Student's t with `freedom` degrees of freedom."""
    from scipy.special import stdtrit

    return float(stdtrit(freedom, probability))
