"""Intervals for other tasks like these: the tasks of a board as a sample of tasks."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scoring.quantiles import student_quantile
from scoring.retrained import FULL_SCORE
from scoring.vectors import as_task_scores

MINIMUM_TASKS = 4  #: fewer do not show how much scores differ between tasks
#: Quantile of Student's t at both ends of a 90 % interval. Scores of tasks are skewed, and .95 covers .79 to .89.
QUANTILE = 0.975
POWER = 0.25  #: fourth roots of mean scores are nearly symmetric, also those of a few tasks


def mean_on_other_tasks(scores: ArrayLike) -> NDArray[np.float64] | None:
    """Return 90 % intervals of the mean score on other tasks like these.

    A task brings the luck of its trainings along, so the intervals hold that, too. They come from the jackknife over
    tasks of the fourth root of the mean. The study tests/studies/tasks_as_sample.py shows how often they cover.

    Args:
        scores: score of each submission on each task, 0 to 100, shape (n_tasks, n_submissions).

    Returns:
        Lower and upper ends, 0 to 100, shape (n_submissions, 2); None for fewer than `MINIMUM_TASKS` tasks.

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
    np.minimum(ends, np.maximum(FULL_SCORE, mean)[:, None], out=ends)  # a perfect score is a little above 100
    return ends


def difference_on_other_tasks(differences: ArrayLike) -> NDArray[np.float64] | None:
    """Return 90 % intervals of the mean difference of two scores on other tasks like these: paired t-intervals.

    Args:
        differences: difference of the scores of each pair of submissions on each task, shape (n_tasks, n_pairs).

    Returns:
        Lower and upper ends, shape (n_pairs, 2); None for fewer than `MINIMUM_TASKS` tasks.
    """
    found = as_task_scores(differences)
    n_tasks = len(found)
    if n_tasks < MINIMUM_TASKS:
        return None
    mean, error = found.mean(axis=0), found.std(axis=0, ddof=1) / np.sqrt(n_tasks)
    half = student_quantile(n_tasks - 1, QUANTILE) * error
    return np.stack([mean - half, mean + half], axis=1)
