"""Counts of pairs of models by the order of their values, within and between groups, without comparing all pairs.

Time grows with the number of models to the power of 1.5, memory with the number of models times the number of groups.
"""

from dataclasses import dataclass
from math import ceil, isqrt

import numpy as np
from numpy.typing import NDArray

from scoring.conditioning import Indices, members_of
from scoring.vectors import Vector

Counts = NDArray[np.float32]  # exact for 2**24 models

MOST_COMPARED = 256  #: up to this number of models, comparing all pairs is quicker than sorting


def smaller_counts(values: Vector, groups: Indices, n_groups: int) -> Counts:
    """Count for each model i and each group the models j with values[j] < values[i], shape (n_models, n_groups)."""
    order = np.argsort(values, kind="stable")
    before = np.zeros((values.size + 1, n_groups), np.float32)
    np.cumsum(members_of(groups[order], n_groups), axis=0, out=before[1:])
    return before[np.searchsorted(values[order], values)]


def ordered_counts(values: Vector, groups: Indices, n_groups: int) -> tuple[Counts, Counts]:
    """Count for each model and group the models of smaller and of larger value: two arrays (n_models, n_groups)."""
    return smaller_counts(values, groups, n_groups), smaller_counts(-values, groups, n_groups)


def both_smaller_counts(gap: Vector, measure: Vector, groups: Indices, n_groups: int) -> Counts:
    """Count for each model i and each group the models j with gap[j] < gap[i] and measure[j] < measure[i].

    The result has the shape (n_models, n_groups). Models are sorted by gap, and by measure; both orders are cut into
    blocks of about sqrt(n_models). If j is in an earlier block than i in both orders, a table counts it. If i and j
    share a block in either order, they are compared.
    """
    n_models = gap.size
    if n_models <= MOST_COMPARED:
        smaller = (gap[:, None] > gap) & (measure[:, None] > measure)
        return smaller.astype(np.float32) @ members_of(groups, n_groups)
    # Ties never count as smaller: equal gaps are in descending order of the measure, equal measures in reverse order.
    by_gap = np.lexsort((-measure, gap))
    by_measure = np.lexsort((-np.arange(n_models), measure[by_gap]))
    size = isqrt(n_models) + 1
    n_blocks = ceil(n_models / size)
    # Positions in the order of the measure; padding of the last block comes last and is never smaller.
    place = np.arange(n_blocks * size)
    place[by_measure] = np.arange(n_models)
    members = np.zeros((place.size, n_groups), np.float32)
    members[:n_models] = members_of(groups[by_gap], n_groups)
    gap_block, measure_block = np.arange(place.size) // size, place // size

    table = np.zeros((n_blocks + 1, n_blocks + 1, n_groups), np.float32)
    np.add.at(table, (gap_block[:n_models] + 1, measure_block[:n_models] + 1, groups[by_gap]), 1)
    counts = table.cumsum(axis=0).cumsum(axis=1)[gap_block, measure_block]
    counts += _in_blocks(place, size, members)
    inverse = np.argsort(place)
    counts[inverse] += _in_blocks(gap_block[inverse], size, members[inverse])
    found = np.empty((n_models, n_groups), np.float32)
    found[by_gap] = counts[:n_models]
    return found


@dataclass(frozen=True)
class Pairs:
    """Numbers of unordered pairs of models within each group, all of shape (n_groups,)."""

    alike: NDArray[np.intp]  #: gap and measure order the two models alike
    opposite: NDArray[np.intp]  #: gap and measure order the two models oppositely
    gap_differs: NDArray[np.intp]  #: the gaps are not equal
    measure_differs: NDArray[np.intp]  #: the values of the measure are not equal


def pairs_in_groups(gap: Vector, measure: Vector, groups: Indices) -> Pairs:
    """Count the pairs of models within each group; `groups` holds the group number of each model, from 0."""
    # All groups are counted at once: the ranks of later groups are larger for the gap and smaller for the measure, so
    # that gap and measure never order a pair of different groups alike.
    gap_places, measure_places = _places(groups, gap), _places(-groups, measure)
    agreeing = both_smaller_counts(gap_places, measure_places, np.zeros_like(groups), 1).ravel()
    alike = np.bincount(groups, weights=agreeing).astype(np.intp)
    sizes = np.bincount(groups)
    n_pairs = sizes * (sizes - 1) // 2
    equal_gaps, equal_measures = _equal_pairs(gap_places, groups), _equal_pairs(measure_places, groups)
    opposite = n_pairs - equal_gaps - equal_measures - alike
    if equal_gaps.any() and equal_measures.any():
        opposite += _equal_pairs(gap_places * measure.size + measure_places, groups)
    return Pairs(alike, opposite, n_pairs - equal_gaps, n_pairs - equal_measures)


def cell_sums(counts: NDArray[np.floating], groups: Indices, n_groups: int) -> NDArray[np.float64]:
    """Sum the rows of `counts` (n_models, n_groups) over the models of each group, shape (n_groups, n_groups)."""
    sums = np.zeros((n_groups, n_groups))
    order = np.argsort(groups, kind="stable")
    found, starts = np.unique(groups[order], return_index=True)
    sums[found] = np.add.reduceat(counts[order], starts, axis=0, dtype=np.float64)
    return sums


def _places(groups: Indices, values: Vector) -> Vector:
    """Return ranks of models by group, then by value; models with the same group and value share a rank."""
    order = np.lexsort((values, groups))
    rises = np.any([each[order][1:] != each[order][:-1] for each in (groups, values)], axis=0)
    places = np.empty(values.size)
    places[order] = np.concatenate([[0], np.cumsum(rises)])
    return places


def _equal_pairs(numbers: NDArray[np.generic], groups: Indices) -> NDArray[np.intp]:
    _, first, sizes = np.unique(numbers, return_index=True, return_counts=True)
    if first.size == groups.size:
        return np.zeros(groups.max() + 1, np.intp)
    return np.bincount(groups[first], weights=sizes * (sizes - 1) // 2).astype(np.intp)


def _in_blocks(numbers: Indices, size: int, members: Counts) -> Counts:
    """For each position i and each group, count positions j < i of the group with numbers[j] < numbers[i] in i's block.

    `numbers` (n,) consists of blocks of `size`; `members` (n, n_groups) is 1 where a position is in a group.
    """
    blocks = numbers.reshape(-1, size)
    smaller = (blocks[:, :, None] > blocks[:, None, :]) & np.tri(size, k=-1, dtype=np.bool_)
    found: Counts = np.matmul(smaller.astype(np.float32), members.reshape(-1, size, members.shape[1]))
    return found.reshape(members.shape)
