"""The official score without each of the models in turn: how much it depends on the choice of models."""

from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from scoring.conditioning import Conditioning
from scoring.contingency import Signs, frequencies
from scoring.official import conditional_information
from scoring.pair_counts import cell_counts, group_counts, is_larger
from scoring.vectors import Vector

CRITICAL = NormalDist().inv_cdf(0.95)  #: half an interval of 90 % in standard errors
CHUNK = 2**14  #: deletions times cells that are held at once: what fits into a processor's cache


def delete_one(measure: Vector, gap: Vector, cond: Conditioning) -> Vector:
    """The official score of all models but one, for each of them, shape (n_models,).

    A model takes with it the pairs that it is in, which are a row and a column of each set's cells.
    """
    gap_plus, measure_plus = is_larger(gap), is_larger(measure)
    signs = (gap_plus & measure_plus, gap_plus, measure_plus)
    size = max(1, CHUNK // cond.first.size)
    chunks = [slice(start, start + size) for start in range(0, gap.size, size)]
    return np.concatenate([_without(models, signs, cond) for models in chunks])


def jackknife_deviations(left_out: NDArray[np.float64]) -> NDArray[np.float64]:
    """Deviations whose norm along the first axis is the standard error.

    Args:
        left_out: a statistic, or several, without each of the models in turn: shape (n_models, ...).

    Source: Efron and Stein, "The jackknife estimate of variance", 1981.
    """
    n_models = len(left_out)
    deviations: NDArray[np.float64] = (left_out - left_out.mean(axis=0)) * np.sqrt((n_models - 1) / n_models)
    return deviations


def jackknife_interval(score: float, left_out: Vector) -> tuple[float, float]:
    """Return both ends of a score's 90 % interval, 0 to 1, from the scores without each model, shape (n_models,).

    It is symmetric for the square root of the score, which is less skewed.
    """
    roots = np.sqrt(np.maximum(score + jackknife_deviations(left_out), 0))
    half = CRITICAL * float(np.linalg.norm(roots - np.sqrt(score)))
    low, high = max(np.sqrt(score) - half, 0.0) ** 2, (np.sqrt(score) + half) ** 2
    return float(low), float(min(high, max(1.0, score)))


def _without(models: slice, signs: tuple[Signs, Signs, Signs], cond: Conditioning) -> Vector:
    both, gap_plus, measure_plus = (cell_counts(pairs, cond) - _involving(models, pairs, cond) for pairs in signs)
    p = frequencies(both, gap_plus, measure_plus, _pairs_without(models, cond))
    lowest: Vector = conditional_information(p, cond).min(axis=-1)
    return lowest


def _involving(models: slice, pairs: Signs, cond: Conditioning) -> NDArray[np.float64]:
    """The true pairs of each cell that a model is the first or the second of, shape (len(models), n_cells)."""
    member = cond.members[models]
    as_first, as_second = (group_counts(of[models], cond.members) for of in (pairs, pairs.T))
    counts = member[:, cond.first] * as_first[:, cond.second] + member[:, cond.second] * as_second[:, cond.first]
    return counts.astype(np.float64)


def _pairs_without(models: slice, cond: Conditioning) -> NDArray[np.float64]:
    """All pairs of each cell that remain, a model with itself included."""
    left = (cond.sizes - cond.members[models]).astype(np.float64)
    return left[:, cond.first] * left[:, cond.second]
