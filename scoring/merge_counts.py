"""Counts of ordered pairs of models in the cells of a conditioning, for many models: n log n instead of n squared.

The time is proportional to n_models * log(n_models) * n_groups, the memory to n_models + n_cells.
"""

import numpy as np
from numpy.typing import NDArray

from scoring.conditioning import Conditioning, Indices
from scoring.vectors import Vector

Counts = NDArray[np.float64]


def larger_counts(values: Vector, cond: Conditioning) -> Counts:
    """Pairs (i, j) of each cell with values[i] > values[j], shape (n_cells,)."""
    ranks = _dense_ranks(values)
    counts = _Blocks(cond)
    order = np.argsort(ranks, kind="stable")
    starts = np.searchsorted(ranks[order], ranks[order])  # of each model's ties: pairs before it are below it
    for groups, block in counts.of_each_set(order):
        for second in range(len(block)):
            before = np.concatenate([[0], np.cumsum(groups == second)])
            block[:, second] += np.bincount(groups, weights=before[starts], minlength=len(block))
    return counts.flat


def both_larger_counts(gap: Vector, measure: Vector, cond: Conditioning) -> Counts:
    """Pairs (i, j) of each cell with gap[i] > gap[j] and measure[i] > measure[j], shape (n_cells,).

    As in a merge sort by the gap, run backwards: models are in the order of the measure, and each level splits
    every run into the half with the smaller and the half with the larger gaps. A pair is counted at the level
    that parts it.
    """
    ranks = _dense_ranks(gap)
    counts = _Blocks(cond)
    # Among equal measures the larger gap stands first, and so counts nothing before it.
    order = np.lexsort((-ranks, measure))
    for level in reversed(range(int(ranks.max()).bit_length())):
        _count_level(counts, order, ranks, level)
        order = order[np.argsort(ranks[order] >> level, kind="stable")]
    return counts.flat


def _count_level(counts: "_Blocks", order: Indices, ranks: Indices, level: int) -> None:
    """Count pairs that agree in all higher bits of the gap's rank, and differ in this one."""
    run = ranks[order] >> (level + 1)  # non-decreasing: the splits so far
    is_upper = (ranks[order] >> level & 1).astype(np.bool_)
    starts = np.searchsorted(run, run[is_upper])
    for groups, block in counts.of_each_set(order):
        lower_groups, upper_groups = np.where(is_upper, -1, groups), groups[is_upper]
        for second in range(len(block)):
            before = np.concatenate([[0], np.cumsum(lower_groups == second)])
            below = before[:-1][is_upper] - before[starts]
            block[:, second] += np.bincount(upper_groups, weights=below, minlength=len(block))


class _Blocks:
    """The counts of all cells, and of each set as a square of its groups."""

    def __init__(self, cond: Conditioning) -> None:
        self.flat: Counts = np.zeros(len(cond.first))
        self._cond = cond

    def of_each_set(self, order: Indices) -> list[tuple[Indices, Counts]]:
        """For each set the groups of the models in that order, numbered from 0, and its square of counts."""
        found = []
        for number, groups in enumerate(self._cond.groups):
            cells = self._cond.cells(number)
            first_group = self._cond.first[cells.start]
            n_groups = int(self._cond.first[cells.stop - 1] - first_group) + 1
            found.append((groups[order] - first_group, self.flat[cells].reshape(n_groups, n_groups)))
        return found


def _dense_ranks(values: Vector) -> Indices:
    """Rank of each value among the distinct ones, from 0."""
    return np.unique(values, return_inverse=True)[1].ravel()
