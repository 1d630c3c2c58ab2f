"""The submissions of a board compared: intervals of scores and ranks, and who beats whom."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from scoring.across_tasks import mean_on_other_tasks
from scoring.batches import official_scores
from scoring.paired import pair_submissions
from scoring.rank_intervals import difference_errors, judge, rank_groups, rank_intervals, standardized_differences
from scoring.rule import TaskCalls
from scoring.score_intervals import score_intervals
from scoring.spread import FULL_SCORE, HeldOut, gap_spread, model_spread

INTERVAL_LEVEL = 0.9  #: of all intervals: a submission's own may fail to hold the truth one time in ten
CRITICAL = NormalDist().inv_cdf((1 + INTERVAL_LEVEL) / 2)


@dataclass(frozen=True)
class Standing:
    """A submission among the others. Scores and errors are in points of the final score, 0 to 100.

    Attributes:
        score: final score.
        low: lower end of the score's interval on these tasks, trained anew.
        high: upper end.
        error: standard error of the score, were the same grid of models trained and tested anew.
        gap_error: the part of `error` that comes from measuring gaps on finitely many test images; None if the
            test sets are not known.
        model_error: the part of `error` that comes from the models themselves; None likewise.
        best_rank: smallest rank that the submission may have.
        worst_rank: largest.
        group: submissions of the same group cannot be told apart from its first; 1 is the best.
        tasks_low: lower end of the interval of the score on other tasks like these; None below four tasks.
        tasks_high: upper end.
    """

    score: float
    low: float
    high: float
    error: float
    gap_error: float | None
    model_error: float | None
    best_rank: int
    worst_rank: int
    group: int
    tasks_low: float | None
    tasks_high: float | None


@dataclass(frozen=True)
class Comparison:
    """All finished submissions of a board.

    Attributes:
        standings: submission -> where it stands, best score first.
        unfinished: submissions without a value for some model; they are compared with none.
        tasks: the tasks that the scores are of, those without an official score left out.
        beats: probability that the submission of a row has the higher expected score than that of a column, 0 to 1;
            0.5 if they always score the same. Both are in the order of `standings`, shape (n, n).
    """

    standings: Mapping[str, Standing]
    unfinished: tuple[str, ...]
    tasks: tuple[str, ...]
    beats: NDArray[np.float64] = field(compare=False)


def compare_submissions(
    submissions: Mapping[str, Mapping[str, TaskCalls]], held_out: Mapping[str, HeldOut] | None = None
) -> Comparison:
    """Say how sure the order of a board is.

    The models of a task are a sample: were the same grid trained anew, every score would be another. The
    expected score over such trainings is what intervals hold at `INTERVAL_LEVEL`. They come from the delete-one
    jackknife, the same models left out for all submissions; docs/statistics.md shows how often they cover. A
    model brings the error of its own measured gap along, so the intervals hold that, too; `held_out` only tells
    how much of it there is. Time and memory grow with the square of the number of models of a task.

    Args:
        submissions: submission -> task -> its calls; all on the same tasks, with the same grid and gaps.
        held_out: task -> the images that its gaps were measured on.

    Raises:
        ScoreUndefined: no submission has finished, or no task has an official score.
        ValueError: submissions with different tasks, grids or gaps; wrong test sets.
    """
    paired = pair_submissions(submissions)
    tasks = list(paired.tasks.values())
    by_task = FULL_SCORE * np.array([official_scores(t.measures, t.gap[None], t.conditioning) for t in tasks])
    scores, other_tasks = by_task.mean(axis=0), mean_on_other_tasks(by_task)
    spread = model_spread(tasks)
    errors = np.linalg.norm(spread, axis=0)
    gap_errors = None if held_out is None else np.minimum(gap_spread(paired.tasks, held_out), errors)
    intervals = score_intervals(scores, spread, CRITICAL, FULL_SCORE)
    between = difference_errors(spread)
    standardized = standardized_differences(scores, between)
    found = judge(standardized, between, spread, INTERVAL_LEVEL)
    ranks, groups = rank_intervals(found), rank_groups(scores, found)
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
            tasks_low=None if other_tasks is None else float(other_tasks[i, 0]),
            tasks_high=None if other_tasks is None else float(other_tasks[i, 1]),
        )
        for i in best_first
    }
    beats = np.reshape([*map(NormalDist().cdf, standardized[np.ix_(best_first, best_first)].flat)], standardized.shape)
    return Comparison(standings, paired.unfinished, tuple(paired.tasks), beats)
