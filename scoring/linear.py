"""How the official score depends on each model, to first order: what stands for resampling where models are many."""

import numpy as np
from numpy.typing import NDArray

from scoring.conditioning import Conditioning, Indices
from scoring.contingency import frequencies, gap_entropy, mutual_information
from scoring.group_counts import Counts, both_smaller_counts, cell_sums, ordered_counts
from scoring.official import EPSILON
from scoring.vectors import Vector

Matrix = NDArray[np.float64]


def influences(measure: Vector, gap: Vector, cond: Conditioning) -> tuple[Vector, Matrix]:
    """The value given each pair of hyperparameters, and how much each model adds to it.

    A value is a function of counts of pairs in cells. A model adds its own pairs, each times the derivative of the
    value by the count of the pair's cell (Hajek's projection).

    Args:
        measure: value of the measure for each model, shape (n_models,).
        gap: shape (n_models,).
        cond: the cells of a grid that has an official score.

    Returns:
        Values from 0 to 1, shape (n_sets,); influences, shape (n_sets, n_models).

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
    """The pairs of each model, as the first and as the second of a pair, times the slopes of their cells."""
    first, second = slope.astype(np.float32)[group], slope.T.astype(np.float32)[group]
    added: Vector = np.einsum("ij,ij->i", as_first, first) + np.einsum("ij,ij->i", as_second, second)
    return added


def _value(both: Matrix, of_gap: Matrix, of_measure: Matrix, n_pairs: Matrix) -> tuple[float, tuple[Matrix, ...]]:
    """The value of a set, and its derivatives by the three counts of each cell."""
    p = frequencies(both, of_gap, of_measure, n_pairs)
    entropy = gap_entropy(p, EPSILON).sum()
    value = float(mutual_information(p).sum() / entropy)
    # Half a pair keeps the logarithms finite.
    logs = np.log2(np.maximum(p, 0.5 / n_pairs[..., None, None]))
    gap_logs, measure_logs = (np.log2(np.maximum(p.sum(axis=axis), 0.5 / n_pairs[..., None])) for axis in (-1, -2))
    gap_odds = gap_logs[..., 0] - gap_logs[..., 1]
    slopes = (
        logs[..., 0, 0] + logs[..., 1, 1] - logs[..., 0, 1] - logs[..., 1, 0],
        logs[..., 0, 1] - logs[..., 1, 1] - gap_odds + value * gap_odds,
        logs[..., 1, 0] - logs[..., 1, 1] - (measure_logs[..., 0] - measure_logs[..., 1]),
    )
    return value, tuple(slope / (n_pairs * entropy) for slope in slopes)
