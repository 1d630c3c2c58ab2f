"""Scores as they would be if the same grid of models were trained anew: a bootstrap of residuals."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from scoring.additive import DECIMALS, degrees_of_freedom, fit_additively
from scoring.batches import chunks
from scoring.linear import influences
from scoring.many_models import FEWEST, MOST_RESAMPLED
from scoring.official import pair_values
from scoring.paired import PairedTask
from scoring.permutations import Scorer
from scoring.quantiles import normal_scores
from scoring.streams import stream
from scoring.vectors import Vector

N_TRAININGS = 300  #: that are drawn; the error of a standard deviation from so many is 4 %
FULL_SCORE = 100.0  #: final scores are 100 times the mean over tasks


def retrained_scores(tasks: Sequence[PairedTask]) -> NDArray[np.float64]:
    """Draw final scores of all submissions for trainings of the same grids.

    Gaps and measures are replaced by the normal scores of their ranks, and divided into an additive fit of the
    hyperparameters and a residual. In each draw, every model keeps its fit, and gets the residuals of a model that is
    drawn at random. The residuals of the gap and of all submissions stay together, so that shared luck stays shared.
    Residuals are widened for the terms of the fit.

    On tasks of more than `MOST_RESAMPLED` models, draws of the value given each pair of hyperparameters are normal.
    Each model adds a number to the value (`influences`); hyperparameters explain a part of it, and the rest is drawn
    anew.

    Returns:
        Shape (N_TRAININGS, n_submissions), in points of the final score.

    Sources: Freedman, "Bootstrapping regression models", 1981; Efron, "Bootstrap methods", 1979.
    """
    drawn = [
        (_on_task if task.gap.size <= MOST_RESAMPLED else _on_large_task)(task, stream("trainings", number))
        for number, task in enumerate(tasks)
    ]
    mean: NDArray[np.float64] = FULL_SCORE * np.mean(drawn, axis=0)
    return mean


def _on_task(task: PairedTask, random: np.random.Generator) -> NDArray[np.float64]:
    numbers = normal_scores(np.vstack([task.gap, task.measures]))
    fitted, n_models = fit_additively(numbers, task.grid), task.gap.size
    widened = np.sqrt(n_models / degrees_of_freedom(task.grid))
    residuals = np.round(widened * (numbers - fitted), DECIMALS)
    scores, have_order = np.zeros((N_TRAININGS, len(task.measures))), np.ones(N_TRAININGS, np.bool_)
    for number, draw in enumerate(scores):
        gap, *measures = np.round(fitted + residuals[:, random.integers(n_models, size=n_models)], DECIMALS)
        scorer = Scorer(gap, task.conditioning)
        have_order[number] = scorer.has_order
        for some in chunks(len(measures), n_models**2):
            draw[some] = scorer(np.array(measures[some]))
    # On a few models a draw may have equal gaps all over, as no training has; others take its place.
    return np.resize(scores[have_order], scores.shape) if have_order.any() else scores


def _on_large_task(task: PairedTask, random: np.random.Generator) -> NDArray[np.float64]:
    n_models, cond = task.gap.size, task.conditioning
    noise = random.normal(size=(N_TRAININGS, n_models)) * np.sqrt(n_models / degrees_of_freedom(task.grid))
    by_chance = np.stack([pair_values(random.normal(size=n_models), task.gap, cond) for _ in range(FEWEST)])
    level, spread = by_chance.mean(axis=0), by_chance.min(axis=1).std(ddof=1)
    scores = np.empty((N_TRAININGS, len(task.measures)))
    for number, measure in enumerate(task.measures):
        values, added = influences(measure, task.gap, cond)
        # As numbers of about 1: a fit has DECIMALS.
        unexplained = added - fit_additively(n_models * added, task.grid) / n_models
        drawn = noise @ unexplained.T
        scores[:, number] = np.maximum(values + _share(values, level, drawn.std(axis=0), spread) * drawn, 0).min(axis=1)
    return scores


def _share(values: Vector, level: Vector, errors: Vector, spread: float) -> Vector:
    """Return the share of first-order deviations that is not due to chance, 0 to 1, shape (n_sets,).

    The same models give the value and the estimate of what each of them adds. So chance has the same share in the
    square of the estimate as in the value. A useless measure is left with the spread of scores under chance.
    """
    signal = np.clip(1 - level / np.maximum(values, level), 0, 1) * errors**2
    share: Vector = np.sqrt(np.clip((signal + spread**2) / np.where(errors > 0, errors, np.inf) ** 2, 0, 1))
    return share
