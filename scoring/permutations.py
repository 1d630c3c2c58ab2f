"""Random permutations of a measure's values among models, and fast official scores of the permutations."""

from collections.abc import Iterator
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from scoring.batches import chunks, ranks
from scoring.conditioning import Conditioning, cell_counts, conditioning, is_larger
from scoring.contingency import Signs, frequencies, gap_entropy, mutual_information
from scoring.grid import Grid
from scoring.group_counts import cell_sums, ordered_counts, smaller_counts
from scoring.official import EPSILON
from scoring.streams import stream
from scoring.vectors import Vector

Ranks = NDArray[np.integer]
Counts = NDArray[np.intp]

PAIRS = 2**16  #: number of pairs of models in memory at once, chosen to fit into a processor's cache
RANK = 8  #: rank of the approximation of a group's counts; it keeps at least 99 % of their variance


def deals(measure: Vector, groups: NDArray[np.intp], n: int, random: np.random.Generator) -> Iterator[Ranks]:
    """Yield arrays (n_permutations, n_models), together `n` random permutations of a measure's ranks within groups.

    `groups` holds the group number of each model; all groups have the same size.
    """
    order = np.argsort(groups, kind="stable")
    in_groups = ranks(measure[None])[0][order].reshape(len(np.unique(groups)), -1)
    for rows in chunks(n, measure.size**2):
        dealt = random.permuted(np.tile(in_groups, (rows.stop - rows.start, 1, 1)), axis=-1)
        found = np.empty((len(dealt), measure.size), dealt.dtype)
        found[:, order] = dealt.reshape(len(dealt), -1)
        yield found


class Scorer:
    """Computes official scores of many measures for the same gaps, much faster than `official_scores`."""

    def __init__(self, gap: Vector, cond: Conditioning) -> None:
        self._cond = cond
        self._gap_plus = is_larger(gap)
        self._pairs = cond.n_pairs.astype(np.intp)
        self._of_gap = cell_counts(self._gap_plus, cond).astype(np.intp)
        counts = np.arange(self._pairs.max() + 1)
        self._k_log_k = counts * np.log2(np.maximum(counts, 1))  # mutual information is a sum of k log k over counts k
        k = self._k_log_k
        self._known = k[self._pairs] - k[self._of_gap] - k[self._pairs - self._of_gap]
        of_gap = self._of_gap.astype(np.float64)
        self._entropy = gap_entropy(frequencies(of_gap, of_gap, of_gap, cond.n_pairs), EPSILON)
        later = is_larger(np.argsort(np.argsort(gap, kind="stable")))  # as `_gap_plus`, but equal gaps have an order
        self._tied = np.nonzero(later & ~self._gap_plus)
        self._few_ties = len(self._tied[0]) <= gap.size
        self._later, self._of_later = later, cell_counts(later, cond).astype(np.intp)

    @property
    def has_order(self) -> bool:
        """Whether each pair of hyperparameters has a cell with gap differences of both signs; else all scores are 0."""
        return all((self._entropy[cells].mean(axis=-1) > 10 * EPSILON).all() for _, cells in self._cond.of_one_size)

    def __call__(self, measures: NDArray[np.floating] | Ranks) -> Vector:
        """Return the official score of each row of `measures` (n, n_models), 0 to 1, shape (n,)."""
        both, of_measure = self._counts(is_larger(measures))
        k, gap_only, measure_only = self._k_log_k, self._of_gap - both, of_measure - both
        information = k[both] + k[gap_only] + k[measure_only] + k[self._pairs - gap_only - of_measure]
        information -= k[of_measure] + k[self._pairs - of_measure] - self._known
        information /= self._cond.n_pairs
        values = np.empty((len(measures), len(self._cond.sets)))
        for sets, cells in self._cond.of_one_size:
            values[:, sets] = information[:, cells].mean(axis=-1) / self._entropy[cells].mean(axis=-1)
        return np.maximum(values, 0.0).min(axis=-1)

    def _counts(self, plus: Signs) -> tuple[Counts, Counts]:
        n_models = plus.shape[-1]
        has_ties = np.count_nonzero(plus) < len(plus) * n_models * (n_models - 1) // 2
        if has_ties or not self._few_ties:
            return self._count(plus, self._gap_plus), self._count(plus, True)
        both = self._count(plus, self._later)
        of_measure = both + (self._of_later - both)[:, self._cond.turned]
        first, second = self._tied
        if first.size:
            both -= (plus[:, first, second].astype(np.float32) @ self._cells_of_ties).astype(np.intp)
        return both, of_measure

    def _count(self, plus: Signs, among: Signs | bool) -> Counts:
        members, size = self._cond.members, len(self._memory[0])
        counts = np.empty((len(plus), self._cond.first.size), np.intp)
        for start in range(0, len(plus), size):
            some = plus[start : start + size]
            pairs, by_group, by_groups = (memory[: len(some)] for memory in self._memory)
            np.logical_and(some, among, out=pairs)
            # Many small products: for a large product BLAS starts threads, which wait for each other on a busy machine.
            np.matmul(members.T, np.matmul(pairs, members, out=by_group), out=by_groups)
            counts[start : start + size] = by_groups[:, self._cond.first, self._cond.second]
        return counts

    @cached_property
    def _memory(self) -> list[NDArray[np.float32]]:
        """Buffers that all counts reuse, because the system clears a large array at every allocation."""
        n_models, n_groups = self._cond.members.shape
        size = max(1, PAIRS // n_models**2)
        shapes = (n_models, n_models), (n_models, n_groups), (n_groups, n_groups)
        return [np.empty((size, *shape), np.float32) for shape in shapes]

    @cached_property
    def _cells_of_ties(self) -> NDArray[np.float32]:
        members, (first, second) = self._cond.members, self._tied
        return members[first][:, self._cond.first] * members[second][:, self._cond.second]


def dealt_values(
    measure: Vector, gap: Vector, grid: Grid, pair: tuple[str, str], n: int, random: np.random.Generator
) -> Vector:
    """Return the approximate conditional mutual information of gap and permuted measure, 0 to 1, shape (n,).

    The condition is the `pair` of hyperparameters. The measure is permuted among models that share both values. In
    each cell, this changes a single count, of the pairs for which gap and measure both have sign +. Hajek's
    projection, meant for large tasks, approximates this count by a sum over models. The sum's variance is smaller than
    the count's variance by the share 1 / (2 * models in a group).
    """
    cond = conditioning(grid, pair)
    groups, n_groups = cond.groupings[0]
    size = gap.size // n_groups
    of_gap, of_measure = (
        cell_sums(smaller_counts(values, groups, n_groups), groups, n_groups) for values in (gap, measure)
    )
    # The mean count over permutations; within a group, a model forms no pair with itself.
    expected = of_gap * of_measure / (size * (size - np.eye(n_groups)))
    least, most = np.maximum(of_gap + of_measure - size**2, 0), np.minimum(of_gap, of_measure)
    entropy = gap_entropy(frequencies(of_gap, of_gap, of_gap, np.full_like(of_gap, size**2)), EPSILON).sum()
    of_models, of_dealt = (_Counted(values, groups, n_groups) for values in (gap, measure))
    places, found = np.arange(gap.size).reshape(n_groups, size), np.empty(n)
    for number in range(n):
        turned = of_models.basis.swapaxes(1, 2) @ of_dealt.basis.reshape(gap.size, -1)[random.permuted(places, axis=1)]
        products = ((of_models.parts @ turned) * of_dealt.parts).sum(axis=-1)
        both = np.clip(expected + (products[:, :n_groups] + products[:, n_groups:].T) / size, least, most)
        found[number] = mutual_information(frequencies(both, of_gap, of_measure, np.full_like(both, size**2))).sum()
    return np.maximum(found / entropy, 0)


class _Counted:
    """A low-rank approximation of two counts for each model i and each group.

    One count is of the group's models with smaller values than i, the other of those with larger values. The counts are
    centred: over the models i of each group, their mean is 0.

    Attributes:
        basis: orthonormal vectors of each group, shape (n_groups, models in a group, rank).
        parts: coefficients for smaller, then for larger values, shape (n_groups, 2 * n_groups, rank).

    Source: Halko, Martinsson and Tropp, "Finding structure with randomness", 2011.
    """

    def __init__(self, values: Vector, groups: NDArray[np.intp], n_groups: int) -> None:
        both_ways = np.hstack(ordered_counts(values, groups, n_groups))
        counts = both_ways[np.argsort(groups, kind="stable")].reshape(n_groups, -1, 2 * n_groups)
        counts -= counts.mean(axis=1, keepdims=True)
        mixed = stream("basis", n_groups).normal(size=(2 * n_groups, RANK)).astype(np.float32)
        self.basis = np.linalg.qr(counts @ mixed).Q
        self.parts = counts.swapaxes(1, 2) @ self.basis
