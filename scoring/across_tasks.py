"""Statistics that treat the tasks of a leaderboard as a random sample: intervals of mean scores, and rank tests."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scoring.quantiles import student_quantile
from scoring.retrained import FULL_SCORE
from scoring.vectors import Vector, as_task_scores

MINIMUM_TASKS = 4  #: smallest number of tasks for an interval
#: Quantile of Student's t for 90 % intervals. Scores of tasks are skewed, so the quantile .95 covers only .79 to .89.
QUANTILE = 0.975
POWER = 0.25  #: the fourth root of a mean score has a nearly symmetric distribution, even over few tasks
MINIMUM_RANKED_TASKS = 6  #: on five, Wilcoxon's smallest p-value is 2 / 2^5, above .05
MINIMUM_SUBMISSIONS = 3  #: smallest number of submissions for Friedman's test
LEVEL = 0.05  #: significance level of the critical difference
DECIMALS = 9  #: scores are rounded to 9 decimals, so that all processors find the same ties


def mean_on_other_tasks(scores: ArrayLike) -> NDArray[np.float64] | None:
    """Return a 90 % interval for each submission's mean score on further tasks.

    The interval assumes that these tasks and the further tasks are random draws from the same population. It is
    symmetric for the fourth root of the mean; a jackknife over tasks gives its width.

    Args:
        scores: score of each submission on each task, 0 to 100, shape (n_tasks, n_submissions).

    Returns:
        Lower and upper end, 0 to 100, shape (n_submissions, 2); None for fewer than `MINIMUM_TASKS` tasks.

    Source: Efron and Stein, "The jackknife estimate of variance", 1981.
    """
    found = as_task_scores(scores)
    n_tasks = len(found)
    if n_tasks < MINIMUM_TASKS:
        return None
    mean = found.mean(axis=0)
    root = mean**POWER
    left_out = np.maximum((found.sum(axis=0) - found) / (n_tasks - 1), 0) ** POWER  # a sum may round to below 0
    error = np.sqrt((n_tasks - 1) / n_tasks * ((left_out - root) ** 2).sum(axis=0))
    half = student_quantile(n_tasks - 1, QUANTILE) * error
    ends: NDArray[np.float64] = np.stack([np.maximum(root - half, 0), root + half], axis=1) ** (1 / POWER)
    np.minimum(ends, np.maximum(FULL_SCORE, mean)[:, None], out=ends)  # a perfect score may exceed 100 by rounding
    return ends


def difference_on_other_tasks(differences: ArrayLike) -> NDArray[np.float64] | None:
    """Return 90 % t-intervals for mean score differences on further tasks, drawn at random like these tasks.

    `differences` holds the score difference of each pair of submissions on each task, shape (n_tasks, n_pairs). The
    result has lower and upper ends, shape (n_pairs, 2); it is None for fewer than `MINIMUM_TASKS` tasks.
    """
    found = as_task_scores(differences)
    n_tasks = len(found)
    if n_tasks < MINIMUM_TASKS:
        return None
    mean, error = found.mean(axis=0), found.std(axis=0, ddof=1) / np.sqrt(n_tasks)
    half = student_quantile(n_tasks - 1, QUANTILE) * error
    return np.stack([mean - half, mean + half], axis=1)


@dataclass(frozen=True)
class MeanRanks:
    """The mean ranks of submissions over tasks, with tests of their differences."""

    n_tasks: int
    mean_ranks: tuple[float, ...]  #: of each submission; 1 is the best, equal scores share the mean of their ranks
    p_value: float  #: p-value of Friedman's test of the null hypothesis that all submissions are equally good
    critical_difference: float  #: Nemenyi's critical difference of two mean ranks, at the significance level .05
    order: tuple[int, ...]  #: positions of the submissions in `mean_ranks`, best first
    #: first and last position in `order` of each group whose mean ranks differ by less than `critical_difference`;
    #: a group has two or more submissions, groups may overlap, and no group is part of another
    groups: tuple[tuple[int, int], ...]


def compare_mean_ranks(scores: ArrayLike) -> MeanRanks | None:
    """Return the submissions' mean ranks over tasks, with tests; None for fewer than three submissions or six tasks.

    Args:
        scores: score of each submission on each task, 0 to 100, shape (n_tasks, n_submissions).

    Source: Demsar, "Statistical comparisons of classifiers over multiple data sets", JMLR 2006; Friedman, "A
        comparison of alternative tests of significance for the problem of m rankings", 1940; Nemenyi,
        "Distribution-free multiple comparisons", 1963.
    """
    found = np.round(as_task_scores(scores), DECIMALS)
    n_tasks, n_submissions = found.shape
    if n_tasks < MINIMUM_RANKED_TASKS or n_submissions < MINIMUM_SUBMISSIONS:
        return None
    from scipy.stats import friedmanchisquare, rankdata, studentized_range

    mean_ranks = rankdata(-found, axis=1).mean(axis=0)
    all_equal = (found == found[:, :1]).all()  # the statistic would be 0 / 0
    quantile = studentized_range.ppf(1 - LEVEL, n_submissions, np.inf) / np.sqrt(2)
    critical = float(quantile * np.sqrt(n_submissions * (n_submissions + 1) / (6 * n_tasks)))
    order = np.argsort(mean_ranks, kind="stable")
    return MeanRanks(
        n_tasks=n_tasks,
        mean_ranks=tuple(mean_ranks.tolist()),
        p_value=1.0 if all_equal else float(friedmanchisquare(*found.T).pvalue),
        critical_difference=critical,
        order=tuple(order.tolist()),
        groups=_groups(mean_ranks[order], critical),
    )


def signed_rank_p_values(differences: ArrayLike) -> Vector | None:
    """Return the exact two-sided p-value of Wilcoxon's signed-rank test for each pair of submissions, shape (n_pairs,).

    `differences` holds the score difference of each pair on each task, shape (n_tasks, n_pairs). Tasks with difference
    0 are left out; if no task remains, the p-value is 1. The result is None for fewer than `MINIMUM_RANKED_TASKS`
    tasks.

    Source: Wilcoxon, "Individual comparisons by ranking methods", 1945.
    """
    found = np.round(as_task_scores(differences), DECIMALS).T
    if found.shape[1] < MINIMUM_RANKED_TASKS:
        return None
    from scipy.stats import rankdata

    sizes = np.where(found == 0, np.inf, np.abs(found))
    doubled = np.where(found == 0, 0, 2 * rankdata(sizes, axis=1)).astype(int)  # ranks may be halves
    observed = np.abs((np.sign(found).astype(int) * doubled).sum(axis=1))
    ranks = np.sort(doubled, axis=1).tolist()
    return np.array([_at_least(tuple(row))[sum_] for row, sum_ in zip(ranks, observed, strict=True)])


@lru_cache(maxsize=1024)
def _at_least(sizes: tuple[int, ...]) -> NDArray[np.float64]:
    """Return P(|s| >= k) for k = 0, 1, 2, ..., where s is the sum of `sizes` with random signs."""
    probability = np.ones(1)
    for size in sizes:
        tossed = np.zeros(probability.size + 2 * size)
        tossed[: probability.size] += probability / 2
        tossed[2 * size :] += probability / 2
        probability = tossed
    middle = probability.size // 2
    away = probability[middle:] + probability[middle::-1]
    away[0] = probability[middle]
    return np.minimum(np.cumsum(away[::-1])[::-1], 1)


def _groups(sorted_ranks: Vector, critical: float) -> tuple[tuple[int, int], ...]:
    lasts = np.searchsorted(sorted_ranks, sorted_ranks + critical, side="left") - 1
    wider = np.diff(lasts, prepend=-1) > 0  # than the group before
    return tuple((first, int(last)) for first, last in enumerate(lasts) if wider[first] and last > first)
