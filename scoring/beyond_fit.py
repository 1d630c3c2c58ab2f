"""Which submissions tell more than all hyperparameters together: scores surely above that of an additive fit."""

from collections.abc import Mapping
from dataclasses import replace
from statistics import NormalDist

import numpy as np

from scoring.batches import official_scores
from scoring.hyperparameters import additive_fit
from scoring.paired import PairedTask, pair_submissions
from scoring.rule import TaskCalls
from scoring.spread import FULL_SCORE, model_spread

LEVEL = 0.05  #: at most this share of submissions that are as good as the fit is called better
ROUNDING = 1e-9  #: scores as close as this, in points, are equal


def beyond_hyperparameters(submissions: Mapping[str, Mapping[str, TaskCalls]]) -> dict[str, bool]:
    """Whether each submission scores surely more than the additive fit of the gaps by all hyperparameters.

    The fit is made on the same models, so it is a demanding opponent. The difference of both final scores is compared
    with its standard error by the delete-one jackknife (`model_spread`), one-sided at `LEVEL`; the fit stays as it is
    when a model is left out.

    Args:
        submissions: submission -> task -> its calls; all on the same tasks, with the same grid and gaps.

    Returns:
        The answer for each submission with a finite value for every model of every task.

    Raises:
        ScoreUndefined: no submission has finished, or no task has an official score.
        ValueError: submissions with different tasks, grids or gaps.
    """
    paired = pair_submissions(submissions)
    with_fit = [_with_fit(task) for task in paired.tasks.values()]
    by_task = [official_scores(task.measures, task.gap[None], task.conditioning) for task in with_fit]
    scores = FULL_SCORE * np.mean(by_task, axis=0)
    leads = scores[:-1] - scores[-1]
    ahead = np.flatnonzero(leads > ROUNDING)  # the jackknife is slow, and no other row can be beyond the fit
    spread = model_spread([replace(task, measures=task.measures[[*ahead, -1]]) for task in with_fit])
    errors = np.linalg.norm(spread[:, :-1] - spread[:, -1:], axis=0)
    beyond = ahead[leads[ahead] > NormalDist().inv_cdf(1 - LEVEL) * errors]
    return {name: number in beyond for number, name in enumerate(paired.finished)}


def _with_fit(task: PairedTask) -> PairedTask:
    """The task with the fit as one more submission, the last."""
    return replace(task, measures=np.vstack([task.measures, additive_fit(task.gap, task.grid)]))
