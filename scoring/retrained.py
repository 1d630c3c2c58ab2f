"""Scores after training the same models anew, simulated by a bootstrap of residuals."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from scoring.batches import FEWEST, MOST_RESAMPLED, chunks
from scoring.conditioning import Conditioning, Indices
from scoring.contingency import frequencies, gap_entropy, mutual_information
from scoring.group_counts import Counts, both_smaller_counts, cell_sums, ordered_counts
from scoring.hyperparameters import DECIMALS, degrees_of_freedom, fit_additively
from scoring.official import EPSILON, pair_values
from scoring.paired import PairedTask
from scoring.permutations import Scorer
from scoring.quantiles import normal_scores
from scoring.streams import stream
from scoring.vectors import Vector

N_TRAININGS = 300  #: number of simulated trainings; a standard deviation from 300 draws has an error of 4 %
FULL_SCORE = 100.0  #: final scores are 100 times the mean over tasks

Matrix = NDArray[np.float64]


def retrained_scores(tasks: Sequence[PairedTask]) -> NDArray[np.float64]:
    """Simulate the final scores that all submissions would have if the models of all tasks were trained anew.

    Gaps and measures are replaced by the normal quantiles of their ranks, and split into an additive fit by the
    hyperparameters and a residual. In each draw, every model keeps its fit, and gets the residuals of a randomly drawn
    model. This model is the same for the gap and all measures, because they are correlated. Residuals are multiplied by
    the root of n_models / degrees of freedom of the residuals.

    For tasks of more than `MOST_RESAMPLED` models, the conditional mutual information is drawn from a normal
    distribution. Its variance comes from each model's contribution to the information (`influences`), minus the part of
    the contribution that hyperparameters explain.

    Returns:
        Final scores, 0 to 100, shape (N_TRAININGS, n_submissions).

    Sources: Freedman, "Bootstrapping regression models", 1981; Efron, "Bootstrap methods", 1979.
    """
    drawn = [
        (_on_task if task.gap.size <= MOST_RESAMPLED else _on_large_task)(task, stream("trainings", number))
        for number, task in enumerate(tasks)
    ]
    return FULL_SCORE * np.mean(drawn, axis=0)


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
    # With few models, all gaps of a draw may be equal, which no training gives: another draw is used instead.
    return np.resize(scores[have_order], scores.shape) if have_order.any() else scores


def _on_large_task(task: PairedTask, random: np.random.Generator) -> NDArray[np.float64]:
    n_models, cond = task.gap.size, task.conditioning
    noise = random.normal(size=(N_TRAININGS, n_models)) * np.sqrt(n_models / degrees_of_freedom(task.grid))
    by_chance = np.stack([pair_values(random.normal(size=n_models), task.gap, cond) for _ in range(FEWEST)])
    level, spread = by_chance.mean(axis=0), by_chance.min(axis=1).std(ddof=1)
    scores = np.empty((N_TRAININGS, len(task.measures)))
    for number, measure in enumerate(task.measures):
        values, added = influences(measure, task.gap, cond)
        # Contributions are scaled to about 1, since the fit is rounded to DECIMALS.
        unexplained = added - fit_additively(n_models * added, task.grid) / n_models
        drawn = noise @ unexplained.T
        scores[:, number] = np.maximum(values + _scale(values, level, drawn.std(axis=0), spread) * drawn, 0).min(axis=1)
    return scores


def _scale(values: Vector, level: Vector, errors: Vector, spread: float) -> Vector:
    """Return factors from 0 to 1, shape (n_sets,), that scale deviations drawn with the standard errors `errors`.

    Chance contributes the share `level` / `values` to the variance `errors`^2. This contribution is replaced by
    `spread`^2, the variance of random measures' values.
    """
    chance = np.divide(level, np.maximum(values, level), out=np.zeros_like(level), where=level > 0)
    signal = np.clip(1 - chance, 0, 1) * errors**2
    return np.sqrt(np.clip((signal + spread**2) / np.where(errors > 0, errors, np.inf) ** 2, 0, 1))


def influences(measure: Vector, gap: Vector, cond: Conditioning) -> tuple[Vector, Matrix]:
    """Return the conditional mutual information given each pair of hyperparameters, and each model's contribution.

    The information is a function of the counts of model pairs in cells. A model's contribution is a sum over the pairs
    with this model: for each pair, the derivative of the function with respect to the count of the pair's cell (Hajek's
    projection). For n_sets pairs of hyperparameters, the information has the shape (n_sets,), and the contributions
    have the shape (n_sets, n_models). The grid of `cond` must have an official score.

    Source: van der Vaart, "Asymptotic statistics", 1998, chapters 11 and 12.
    """
    values, found = np.empty(len(cond.sets)), np.empty((len(cond.sets), gap.size))
    for number in range(len(cond.sets)):
        groups = cond.groupings[number]
        n_pairs = cond.n_pairs[cond.cells(number)].reshape(groups[1], groups[1])
        both = both_smaller_counts(gap, measure, *groups), both_smaller_counts(-gap, -measure, *groups)
        counts = [both, ordered_counts(gap, *groups), ordered_counts(measure, *groups)]
        sums = [cell_sums(of_first, *groups) for of_first, _ in counts]
        values[number], slopes = _value(sums[0], sums[1], sums[2], n_pairs)
        added = [_added(*pair, slope, groups[0]) for pair, slope in zip(counts, slopes, strict=True)]
        found[number] = np.sum(added, axis=0)
    return values, found


def _added(as_first: Counts, as_second: Counts, slope: Matrix, group: Indices) -> Vector:
    """Return for each model the sum, over all pairs with this model, of the `slope` of the pair's cell."""
    first, second = slope.astype(np.float32)[group], slope.T.astype(np.float32)[group]
    return np.einsum("ij,ij->i", as_first, first) + np.einsum("ij,ij->i", as_second, second)


def _value(both: Matrix, of_gap: Matrix, of_measure: Matrix, n_pairs: Matrix) -> tuple[float, tuple[Matrix, ...]]:
    """Return the conditional mutual information, and its derivatives in `both`, `of_gap` and `of_measure`.

    The condition is a pair of hyperparameters. The arguments count pairs of models in each cell, as for `frequencies`.
    """
    p = frequencies(both, of_gap, of_measure, n_pairs)
    entropies = gap_entropy(p, EPSILON)
    if entropies.mean() <= 10 * EPSILON:  # the two hyperparameters determine the order of the gaps
        return 0.0, (np.zeros_like(n_pairs),) * 3
    entropy = entropies.sum()
    value = float(mutual_information(p).sum() / entropy)
    # A frequency of at least half a pair keeps the logarithms finite.
    logs = np.log2(np.maximum(p, 0.5 / n_pairs[..., None, None]))
    gap_logs, measure_logs = (np.log2(np.maximum(p.sum(axis=axis), 0.5 / n_pairs[..., None])) for axis in (-1, -2))
    gap_odds = gap_logs[..., 0] - gap_logs[..., 1]
    slopes = (
        logs[..., 0, 0] + logs[..., 1, 1] - logs[..., 0, 1] - logs[..., 1, 0],
        logs[..., 0, 1] - logs[..., 1, 1] - gap_odds + value * gap_odds,
        logs[..., 1, 0] - logs[..., 1, 1] - (measure_logs[..., 0] - measure_logs[..., 1]),
    )
    return value, tuple(slope / (n_pairs * entropy) for slope in slopes)
