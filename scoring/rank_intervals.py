"""The ranks that a submission may have, and groups of submissions that cannot be told apart."""

import numpy as np
from numpy.typing import NDArray

from scoring.streams import stream
from scoring.vectors import Vector

RANK_DRAWS = 2000
AT_ONCE = 32  #: submissions that are compared with one: their draws fit into a processor's cache
Ranks = NDArray[np.intp]
Verdicts = NDArray[np.int8]


def difference_errors(spread: NDArray[np.float64]) -> NDArray[np.float64]:
    """Standard error of the difference of every two scores, shape (n, n)."""
    return np.array([np.linalg.norm(spread - one[:, None], axis=0) for one in spread.T])


def standardized_differences(scores: Vector, errors: NDArray[np.float64]) -> NDArray[np.float64]:
    """Difference of two scores in units of its standard error: (n, n), positive where the first is the larger.

    Equal scores have 0; different ones that differ by the same amount whichever model is left out, infinity.
    """
    difference = scores[:, None] - scores
    with np.errstate(divide="ignore"):
        found: NDArray[np.float64] = np.divide(difference, errors, out=np.zeros_like(difference), where=difference != 0)
    return found


def verdicts(scores: Vector, spread: NDArray[np.float64], level: float) -> Verdicts:
    """Return the verdicts of `judge` on scores with that spread."""
    errors = difference_errors(spread)
    return judge(standardized_differences(scores, errors), errors, spread, level)


def judge(
    standardized: NDArray[np.float64],
    errors: NDArray[np.float64],
    spread: NDArray[np.float64],
    level: float,
    seed: int = 0,
) -> Verdicts:
    """Whether each submission is surely better (1) or worse (-1) than each other, or cannot be told (0): (n, n).

    All verdicts of a row hold together at the level: the largest standardized difference of one submission to any
    other is compared with its distribution, drawn with the spread of the scores. With more submissions more is
    demanded of each.

    Args:
        standardized: `standardized_differences` of the scores, shape (n, n).
        errors: `difference_errors` of the spread, shape (n, n).
        spread: deviations of the scores, shape (n_deletions, n).
        level: probability that all verdicts of a row hold, 0 to 1.
        seed: decides the draws.

    Source: Mogstad, Romano, Shaikh, Wilhelm, "Inference for ranks", Review of Economic Studies 2024.
    """
    draws = stream("ranks", seed).standard_normal((RANK_DRAWS, len(spread))) @ spread
    found = np.zeros(standardized.shape, np.int8)
    for own, (row, largest) in enumerate(zip(standardized, _largest_differences(draws, errors), strict=True)):
        found[own] = np.sign(row) * (np.abs(row) > np.quantile(largest, level))
    return found


def _largest_differences(draws: NDArray[np.float64], errors: NDArray[np.float64]) -> NDArray[np.float64]:
    """Largest standardized difference of each submission to any other in each of the draws: (n, n_draws).

    Two submissions have the same difference seen from either, so every pair is computed once.
    """
    by_submission = np.ascontiguousarray(draws.T)
    errors = np.where(errors > 0, errors, np.inf)  # submissions that never differ
    largest = np.zeros_like(by_submission)
    for own, mine in enumerate(by_submission):
        for first in range(own + 1, len(draws.T), AT_ONCE):
            others = slice(first, first + AT_ONCE)
            noise = by_submission[others] - mine
            np.abs(noise, out=noise)
            noise /= errors[own, others, None]
            np.maximum(largest[others], noise, out=largest[others])
            np.maximum(largest[own], noise.max(axis=0), out=largest[own])
    return largest


def rank_intervals(found: Verdicts) -> Ranks:
    """Smallest and largest rank of each submission, shape (n, 2).

    The best rank counts those that are surely better, the worst rank leaves out those that are surely worse.
    """
    return np.stack([1 + (found < 0).sum(axis=1), len(found) - (found > 0).sum(axis=1)], axis=1)


def rank_groups(scores: Vector, found: Verdicts) -> Ranks:
    """Number the groups of submissions that cannot be told apart, from 1 for the best, shape (n,).

    From the best score down: a submission that is not surely worse than the first of a group belongs to it; the
    next one that is opens another group.
    """
    groups = np.zeros(scores.size, np.intp)
    order = np.argsort(-scores, kind="stable")
    leader, number = order[0], 1
    for own in order:
        if found[own, leader] < 0:
            leader, number = own, number + 1
        groups[own] = number
    return groups
