"""The ranks that a submission may have, and groups of submissions that cannot be told apart."""

import numpy as np
from numpy.typing import NDArray

from scoring.vectors import Vector

RANK_DRAWS = 2000
Ranks = NDArray[np.intp]


def standardized_differences(scores: Vector, spread: NDArray[np.float64]) -> NDArray[np.float64]:
    """Difference of two scores in units of its standard error: (n, n), positive where the first is the larger.

    Equal scores have 0; different ones that differ by the same amount whichever model is left out, infinity.
    """
    difference = scores[:, None] - scores
    error = difference_errors(spread)
    with np.errstate(divide="ignore"):
        found: NDArray[np.float64] = np.divide(difference, error, out=np.zeros_like(difference), where=difference != 0)
    return found


def difference_errors(spread: NDArray[np.float64]) -> NDArray[np.float64]:
    """Standard error of the difference of every two scores, shape (n, n)."""
    return np.array([np.linalg.norm(spread - one[:, None], axis=0) for one in spread.T])


def rank_intervals(scores: Vector, spread: NDArray[np.float64], level: float, seed: int = 0) -> Ranks:
    """Smallest and largest rank of each submission, shape (n, 2).

    A submission's best rank counts those that are surely better, its worst rank those that are surely worse.
    Surely means that all of its comparisons hold together at the level: the largest standardized difference to
    any other is compared with its distribution, drawn with the spread of the scores.

    Source: Mogstad, Romano, Shaikh, Wilhelm, "Inference for ranks", Review of Economic Studies 2024.
    """
    standardized = standardized_differences(scores, spread)
    errors = difference_errors(spread)
    draws = np.random.default_rng(seed).standard_normal((RANK_DRAWS, len(spread))) @ spread
    found = []
    for own, row in enumerate(standardized):
        with np.errstate(invalid="ignore", divide="ignore"):
            noise = np.nan_to_num(np.abs(draws[:, [own]] - draws) / errors[own], nan=0.0, posinf=0.0)
        critical = np.quantile(noise.max(axis=1), level)
        found.append((1 + np.sum(row < -critical), len(row) - np.sum(row > critical)))
    return np.array(found, dtype=np.intp)


def rank_groups(scores: Vector, spread: NDArray[np.float64], critical: float) -> Ranks:
    """Number the groups of submissions that cannot be told apart, from 1 for the best, shape (n,).

    From the best score down: a submission that cannot be told apart from the first of a group belongs to it;
    the next one that can opens another group.

    Args:
        scores: final scores, shape (n,).
        spread: their deviations, shape (n_rows, n).
        critical: standardized differences above this tell two submissions apart.
    """
    standardized = standardized_differences(scores, spread)
    groups = np.zeros(scores.size, np.intp)
    leader, number = -1, 0
    for own in np.argsort(-scores, kind="stable"):
        if leader < 0 or standardized[leader, own] > critical:
            leader, number = own, number + 1
        groups[own] = number
    return groups
