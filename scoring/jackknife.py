"""The official score given chosen hyperparameters, for grids with empty cells, with jackknife intervals."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scoring.conditioning import Conditioning, cell_counts, conditioning, group_counts, is_larger
from scoring.contingency import Signs, frequencies, gap_entropy
from scoring.errors import ScoreUndefined
from scoring.grid import Grid
from scoring.official import EPSILON, cell_frequencies, conditional_information
from scoring.vectors import Vector, as_vectors_of

CRITICAL = NormalDist().inv_cdf(0.95)  #: half the width of a 90 % interval, in standard errors
CHUNK = 2**14  #: numbers in memory at once (left-out models times cells), chosen to fit into a processor's cache


@dataclass(frozen=True)
class GivenScore:
    """Conditional mutual information of a measure and the gap, given some hyperparameters."""

    score: float  #: minimum of `pairs`, from 0 to 1
    low: float  #: lower end of the 90 % interval of `score`, by the jackknife over models
    high: float  #: upper end of the interval
    pairs: dict[tuple[str, str], float]  #: pair of hyperparameters, sorted -> conditional mutual information given both


def given_score(measure: ArrayLike, gap: ArrayLike, grid: Grid, names: Sequence[str]) -> GivenScore:
    """Return the conditional mutual information given every two of the hyperparameters `names`, with its minimum.

    The formula is that of `official_score`. Cells of the grid may be empty, as in the corpus of Schiff et al. (2021).
    Values of the measure and gaps (train minus test accuracy) are finite, shape (n_models,), in the order of the grid.

    Raises:
        ScoreUndefined: fewer than two names; for some two names, models that share both values always have equal gaps.
        ValueError: wrong lengths, numbers that are not finite, or a name that is not in the grid.
    """
    measure, gap = as_vectors_of(len(grid.models), measure, gap)
    if unknown := set(names) - set(grid.names):
        raise ValueError(f"expected hyperparameters of the grid, found {', '.join(sorted(unknown))}")
    if len(set(names)) < 2:
        raise ScoreUndefined(f"expected at least 2 hyperparameters to condition on, found {', '.join(names) or 'none'}")
    cond = conditioning(grid, tuple(sorted(set(names))))
    p = cell_frequencies(measure, gap, cond)
    entropies = gap_entropy(p, EPSILON)
    for number, pair in enumerate(cond.sets):
        if not (entropies[cond.cells(number)] > EPSILON * 10).any():
            raise ScoreUndefined(f"given {pair[0]} and {pair[1]}, no group has two models with different gaps")
    values = conditional_information(p, cond).tolist()
    low, high = jackknife_interval(min(values), delete_one(measure, gap, cond))
    return GivenScore(min(values), low, high, dict(zip(cond.sets, values, strict=True)))


def delete_one(measure: Vector, gap: Vector, cond: Conditioning) -> Vector:
    """Return for each model the official score of all other models, shape (n_models,)."""
    gap_plus, measure_plus = is_larger(gap), is_larger(measure)
    signs = (gap_plus & measure_plus, gap_plus, measure_plus)
    size = max(1, CHUNK // cond.first.size)
    chunks = [slice(start, start + size) for start in range(0, gap.size, size)]
    return np.concatenate([_without(models, signs, cond) for models in chunks])


def jackknife_deviations(left_out: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the deviations of `left_out` from its mean, scaled so that their norm is the standard error.

    Entry i of `left_out` is a statistic of all models but i, shape (n_models, ...). Mean and norm are over models.

    Source: Efron and Stein, "The jackknife estimate of variance", 1981.
    """
    n_models = len(left_out)
    return (left_out - left_out.mean(axis=0)) * np.sqrt((n_models - 1) / n_models)


def jackknife_interval(score: float, left_out: Vector) -> tuple[float, float]:
    """Return both ends of a score's 90 % interval, 0 to 1.

    Entry i of `left_out` is the score of all models but i, shape (n_models,). The interval is symmetric for the square
    root of the score, which is less skewed than the score.
    """
    roots = np.sqrt(np.maximum(score + jackknife_deviations(left_out), 0))
    half = CRITICAL * float(np.linalg.norm(roots - np.sqrt(score)))
    low, high = max(np.sqrt(score) - half, 0.0) ** 2, (np.sqrt(score) + half) ** 2
    return float(low), float(min(high, max(1.0, score)))


def _without(models: slice, signs: tuple[Signs, Signs, Signs], cond: Conditioning) -> Vector:
    both, gap_plus, measure_plus = (cell_counts(pairs, cond) - _involving(models, pairs, cond) for pairs in signs)
    p = frequencies(both, gap_plus, measure_plus, _pairs_without(models, cond))
    return conditional_information(p, cond).min(axis=-1)


def _involving(models: slice, pairs: Signs, cond: Conditioning) -> NDArray[np.float64]:
    """Return, for each of `models` and each cell, the number of true entries of `pairs` that involve the model."""
    member = cond.members[models]
    as_first, as_second = (group_counts(of[models], cond.members) for of in (pairs, pairs.T))
    counts = member[:, cond.first] * as_first[:, cond.second] + member[:, cond.second] * as_second[:, cond.first]
    return counts.astype(np.float64)


def _pairs_without(models: slice, cond: Conditioning) -> NDArray[np.float64]:
    left = (cond.sizes - cond.members[models]).astype(np.float64)
    return left[:, cond.first] * left[:, cond.second]
