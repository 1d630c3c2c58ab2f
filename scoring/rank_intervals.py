"""The relation "significantly better" between submissions, and the intervals of ranks that follow from it."""

from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from scoring.quantiles import student_quantile
from scoring.vectors import Vector

MARGIN = 1.04  #: factor that widens simulated quantiles, since simulated trainings vary less than real trainings

Matrix = NDArray[np.float64]
Relation = NDArray[np.bool_]
Ranks = NDArray[np.intp]


def difference_errors(draws: Matrix) -> Matrix:
    """Return the standard error of the difference of every two scores, shape (n, n), from `draws` (n_draws, n)."""
    return np.array([(draws - one[:, None]).std(axis=0, ddof=1) for one in draws.T])


def standardized_differences(scores: Vector, errors: Matrix) -> Matrix:
    """Return the difference of every two scores divided by its standard error, shape (n, n).

    If the error is 0, the result is 0 for equal scores, and plus or minus infinity for different scores.
    """
    difference = scores[:, None] - scores
    with np.errstate(divide="ignore"):
        found: Matrix = np.divide(difference, errors, out=np.zeros_like(difference), where=difference != 0)
    return found


def surely_better(standardized: Matrix, draws: Matrix, errors: Matrix, level: float, freedom: int) -> Relation:
    """Return for all i and j whether submission i is significantly better than submission j, shape (n, n).

    With probability `level`, all entries are right. A difference is significant if it exceeds a quantile of the largest
    difference that luck gives to any pair. Pairs with significant differences are then left out, and the other pairs
    are tested again, until no further pair is significant. If i is better than j, and j than k, then i is better than
    k.

    Args:
        standardized: `standardized_differences` of the scores, shape (n, n).
        draws: scores after simulated new trainings, shape (n_draws, n).
        errors: `difference_errors` of the draws, shape (n, n).
        level: probability that all entries are right, 0 to 1.
        freedom: degrees of freedom of the standard errors.

    Sources: Mogstad, Romano, Shaikh and Wilhelm, "Inference for ranks", 2024; Romano and Wolf, "Exact and approximate
    stepdown methods for multiple hypothesis testing", 2005.
    """
    centred, scale = draws - draws.mean(axis=0), np.where(errors > 0, errors, np.inf)
    found = np.zeros(standardized.shape, np.bool_)
    while True:
        largest = float(np.quantile(_largest_differences(centred, scale, ~found), level))
        bound = -MARGIN * student_quantile(freedom, NormalDist().cdf(-largest))
        more = (standardized > bound) & ~found
        if not more.any():
            return _closure(found)
        found |= more


def rank_intervals(better: Relation) -> Ranks:
    """Return the smallest and the largest possible rank of each submission, shape (n, 2).

    The smallest is 1 + the number of significantly better submissions; the largest is n - the number of significantly
    worse submissions.
    """
    return np.stack([1 + better.sum(axis=0), len(better) - better.sum(axis=1)], axis=1)


def rank_groups(better: Relation) -> Ranks:
    """Return the group of each submission, from 1 for the best group, shape (n,).

    Group 1 holds the submissions to which no submission is significantly superior. Without group 1, the same rule gives
    group 2, and so on.
    """
    groups = np.zeros(len(better), np.intp)
    number = 0
    while (groups == 0).any():
        left, number = groups == 0, number + 1
        groups[left & ~better[left].any(axis=0)] = number
    return groups


def _largest_differences(centred: Matrix, scale: Matrix, among: Relation) -> Vector:
    by_submission = np.ascontiguousarray(centred.T)
    largest = np.zeros(len(centred))
    for own, mine in enumerate(by_submission):
        others = among[own]
        noise = (mine - by_submission[others]) / scale[own, others, None]
        np.maximum(largest, noise.max(axis=0), out=largest)
    return largest


def _closure(better: Relation) -> Relation:
    while True:
        steps = better.astype(np.float32)
        wider: Relation = better | (steps @ steps > 0)
        if (wider == better).all():
            return better
        better = wider
