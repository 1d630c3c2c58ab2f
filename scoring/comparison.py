"""The comparison of the submissions on a leaderboard: intervals of scores and ranks, and significant differences."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from scoring.across_tasks import mean_on_other_tasks
from scoring.batches import MOST_RESAMPLED, official_scores
from scoring.hyperparameters import degrees_of_freedom, fit_additively
from scoring.paired import pair_submissions
from scoring.quantiles import student_quantile
from scoring.rank_intervals import (
    difference_errors,
    rank_groups,
    rank_intervals,
    standardized_differences,
    surely_better,
)
from scoring.retrained import FULL_SCORE, retrained_scores
from scoring.rule import TaskCalls
from scoring.spread import HeldOut, gap_spread
from scoring.vectors import Vector

INTERVAL_LEVEL = 0.9  #: probability with which an interval contains the true value
ROUNDING = 1e-9  #: scores with at most this difference, in points, are equal
CRITICAL = NormalDist().inv_cdf((1 + INTERVAL_LEVEL) / 2)
UPPER = 0.975  #: an interval's upper end is at least this quantile of the simulated scores: low scores vary too little


@dataclass(frozen=True)
class Standing:
    """A submission's score and rank with their uncertainty. Scores and errors are in points, 0 to 100."""

    score: float  #: final score
    low: float  #: lower end of the 90 % interval of the score over new trainings of the same models
    high: float  #: upper end of this interval
    error: float  #: standard error of the score over new trainings and new test sets
    #: part of `error` that comes from finitely many test images; None if the test sets are not known, or if a task has
    #: more than `MOST_RESAMPLED` models
    gap_error: float | None
    model_error: float | None  #: part of `error` that comes from training; None if `gap_error` is None
    best_rank: int  #: lower end of the interval of the rank
    worst_rank: int  #: upper end of the interval of the rank
    group: int  #: submissions with the same number do not differ significantly; 1 is the best group
    tasks_low: float | None  #: lower end of the 90 % interval of the score on other tasks; None below four tasks
    tasks_high: float | None  #: upper end of this interval; None below four tasks
    #: whether the score is significantly (one-sided, 95 %) higher than the score of the gaps' additive fit by all
    #: hyperparameters
    beyond_hyperparameters: bool


@dataclass(frozen=True)
class Difference:
    """The difference between the scores of two submissions, and how certain it is."""

    points: float  #: score of the first minus score of the second submission, -100 to 100
    low: float  #: lower end of the 90 % interval of the difference
    high: float  #: upper end of the 90 % interval of the difference
    p_value: float  #: two-sided p-value of the null hypothesis that both submissions are equally good
    verdict: int  #: 1 if the first is significantly better, -1 if the second is, 0 if the difference may be luck


@dataclass(frozen=True)
class Comparison:
    """The comparison of all submissions that have a finite value for every model of every scored task."""

    standings: Mapping[str, Standing]  #: submission -> its score, rank and their uncertainty; best score first
    unfinished: tuple[str, ...]  #: submissions that lack a value for a model, and so are not compared
    tasks: tuple[str, ...]  #: the tasks that have an official score
    #: standard error of the difference of every two scores, in points, shape (n, n), in the order of `standings`;
    #: multiplied by the quotient of the quantiles of Student's t and of the normal distribution
    errors: NDArray[np.float64] = field(compare=False)
    #: better[i, j]: whether submission i is significantly better than submission j, in the order of `standings`. With
    #: probability `INTERVAL_LEVEL`, all entries are right.
    better: NDArray[np.bool_] = field(compare=False)

    def difference(self, first: str, second: str) -> Difference:
        """Return the difference between two submissions in `standings`; raise `KeyError` for another name."""
        points = self.standings[first].score - self.standings[second].score
        one, other = self._position[first], self._position[second]
        error, verdict = float(self.errors[one, other]), int(self.better[one, other]) - int(self.better[other, one])
        p_value = 2 * NormalDist().cdf(-abs(points) / error) if error else float(points == 0)
        low, high = max(points - CRITICAL * error, -FULL_SCORE), min(points + CRITICAL * error, FULL_SCORE)
        return Difference(points, min(low, points), max(high, points), p_value, verdict)

    @cached_property
    def _position(self) -> dict[str, int]:
        return {name: number for number, name in enumerate(self.standings)}


def compare_submissions(
    submissions: Mapping[str, Mapping[str, TaskCalls]], held_out: Mapping[str, HeldOut] | None = None
) -> Comparison:
    """Return how certain the scores and the order of a leaderboard are.

    Training the same models anew would change every score. `retrained_scores` simulates such trainings. An interval
    contains the mean score over trainings with probability `INTERVAL_LEVEL`; `pgdl help certainty` shows in how many
    simulations it did.

    Args:
        submissions: submission -> task -> its calls; all on the same tasks, with the same grid and gaps.
        held_out: task -> test accuracies and number of test images, for `Standing.gap_error`.

    Raises:
        ScoreUndefined: no submission has a value for every model, or no task has an official score.
        ValueError: submissions differ in tasks, grids or gaps; a task lacks a valid entry in `held_out`.
    """
    paired = pair_submissions(submissions)
    # The fit of the gaps by all hyperparameters is added as the last submission.
    tasks = [
        replace(task, measures=np.vstack([task.measures, fit_additively(task.gap, task.grid)]))
        for task in paired.tasks.values()
    ]
    by_task = FULL_SCORE * np.array([official_scores(t.measures, t.gap[None], t.conditioning) for t in tasks])
    draws = retrained_scores(tasks)
    freedom = min(degrees_of_freedom(task.grid) for task in tasks)
    critical = student_quantile(freedom, (1 + INTERVAL_LEVEL) / 2)
    beyond = _surely_above_last(by_task.mean(axis=0), draws, critical)
    by_task, draws = by_task[:, :-1], draws[:, :-1]
    scores, other_tasks = by_task.mean(axis=0), mean_on_other_tasks(by_task)
    errors = draws.std(axis=0, ddof=1)
    if any(task.gap.size > MOST_RESAMPLED for task in tasks):
        held_out = None
    gap_errors = None if held_out is None else np.minimum(gap_spread(paired.tasks, held_out), errors)
    intervals = np.minimum(score_intervals(scores, draws, critical), np.maximum(FULL_SCORE, scores)[:, None])
    between = difference_errors(draws)
    standardized = standardized_differences(scores, between)
    better = surely_better(standardized, draws, between, INTERVAL_LEVEL, freedom)
    ranks, groups = rank_intervals(better), rank_groups(better)
    best_first = np.argsort(-scores, kind="stable")
    standings = {
        paired.finished[i]: Standing(
            score=float(scores[i]),
            low=float(intervals[i, 0]),
            high=float(intervals[i, 1]),
            error=float(errors[i]),
            gap_error=None if gap_errors is None else float(gap_errors[i]),
            model_error=None if gap_errors is None else math.sqrt(errors[i] ** 2 - gap_errors[i] ** 2),
            best_rank=int(ranks[i, 0]),
            worst_rank=int(ranks[i, 1]),
            group=int(groups[i]),
            beyond_hyperparameters=bool(beyond[i]),
            # On other tasks training is random, too, so the interval must not be narrower than on these tasks.
            tasks_low=None if other_tasks is None else float(min(other_tasks[i, 0], intervals[i, 0])),
            tasks_high=None if other_tasks is None else float(max(other_tasks[i, 1], intervals[i, 1])),
        )
        for i in best_first
    }
    in_order = np.ix_(best_first, best_first)
    return Comparison(
        standings, paired.unfinished, tuple(paired.tasks), between[in_order] * critical / CRITICAL, better[in_order]
    )


def _surely_above_last(scores: Vector, draws: NDArray[np.float64], critical: float) -> NDArray[np.bool_]:
    leads, errors = scores[:-1] - scores[-1], (draws[:, :-1] - draws[:, -1:]).std(axis=0, ddof=1)
    return leads > np.maximum(critical * errors, ROUNDING)


def score_intervals(scores: Vector, draws: NDArray[np.float64], critical: float) -> NDArray[np.float64]:
    """Return lower and upper end of each score's interval, shape (n, 2).

    The square root of a score is less skewed than the score, so the root's interval is symmetric: `critical` standard
    errors to both sides. The upper end is at least the `UPPER` quantile of `draws`, the scores after simulated new
    trainings, shape (n_draws, n).
    """
    roots, errors = np.sqrt(scores), critical * np.sqrt(draws).std(axis=0, ddof=1)
    low, high = np.maximum(roots - errors, 0) ** 2, (roots + errors) ** 2
    return np.stack([low, np.maximum(high, np.quantile(draws, UPPER, axis=0))], axis=1)
