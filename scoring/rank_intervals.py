"""The relation "surely better" between submissions; from that, intervals of ranks, and groups."""

from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from scoring.quantiles import student_quantile
from scoring.vectors import Vector

MARGIN = 1.04  #: widens quantiles of many pairs: draws vary a little less than trainings

Matrix = NDArray[np.float64]
Relation = NDArray[np.bool_]
Ranks = NDArray[np.intp]


def difference_errors(draws: Matrix) -> Matrix:
    """Return the standard error of the difference of every two scores, shape (n, n), from draws: (n_draws, n)."""
    return np.array([(draws - one[:, None]).std(axis=0, ddof=1) for one in draws.T])


def standardized_differences(scores: Vector, errors: Matrix) -> Matrix:
    """Return score i minus score j in units of its standard error `errors`, shape (n, n).

    The entry is 0 for equal scores, and infinite for different scores whose difference is the same in all draws.
    """
    difference = scores[:, None] - scores
    with np.errstate(divide="ignore"):
        found: Matrix = np.divide(difference, errors, out=np.zeros_like(difference), where=difference != 0)
    return found


def surely_better(standardized: Matrix, draws: Matrix, errors: Matrix, level: float, freedom: int) -> Relation:
    """Return whether submission i is surely better than submission j, shape (n, n): a strict partial order.

    All entries together are right with probability `level`: a difference must exceed a quantile of the largest
    difference that luck gives to any pair. Pairs that exceed it are left out, and the others are compared again, until
    no further pair exceeds it. The relation is transitive.

    Args:
        standardized: `standardized_differences` of the scores, shape (n, n).
        draws: scores of other trainings, shape (n_draws, n).
        errors: `difference_errors` of the draws, shape (n, n).
        level: 0 to 1.
        freedom: degrees of freedom of the standard errors, for a bound by Student's t.

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
    """Return the smallest and the largest rank that each submission may have, shape (n, 2).

    The best rank follows all submissions that are surely better; the worst rank precedes all that are surely worse.
    """
    return np.stack([1 + better.sum(axis=0), len(better) - better.sum(axis=1)], axis=1)


def rank_groups(better: Relation) -> Ranks:
    """Number the groups of submissions that cannot be told apart, from 1 for the best, shape (n,).

    The first group has the submissions to which no other is surely better; without them, the same rule gives the second
    group, and so on. So no member of a group is surely better than another member, and every member of a later group is
    surely worse than a member of the group before.
    """
    groups = np.zeros(len(better), np.intp)
    number = 0
    while (groups == 0).any():
        left, number = groups == 0, number + 1
        groups[left & ~better[left].any(axis=0)] = number
    return groups


def _largest_differences(centred: Matrix, scale: Matrix, among: Relation) -> Vector:
    """Return the largest standardized difference by luck of the pairs `among` in each draw, shape (n_draws,)."""
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
