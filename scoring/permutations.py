"""Deals the values of a measure out anew, and scores each deal; quick, since the gap stays as it is."""

from collections.abc import Iterator
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from scoring.batches import chunks, ranks
from scoring.conditioning import Conditioning
from scoring.contingency import Signs, frequencies, gap_entropy
from scoring.official import EPSILON
from scoring.pair_counts import cell_counts, is_larger
from scoring.vectors import Vector

Ranks = NDArray[np.integer]
Counts = NDArray[np.intp]

PAIRS = 2**16  #: of models that are held at once: what fits into a processor's cache


def deals(measure: Vector, groups: NDArray[np.intp], n: int, random: np.random.Generator) -> Iterator[Ranks]:
    """Yield `n` random orders of a measure's ranks, in chunks of shape (n_deals, n_models).

    `groups` numbers the group of each model; all groups have one size, and values stay within them.
    """
    order = np.argsort(groups, kind="stable")
    in_groups = ranks(measure[None])[0][order].reshape(len(np.unique(groups)), -1)
    for rows in chunks(n, measure.size**2):
        dealt = random.permuted(np.tile(in_groups, (rows.stop - rows.start, 1, 1)), axis=-1)
        found = np.empty((len(dealt), measure.size), dealt.dtype)
        found[:, order] = dealt.reshape(len(dealt), -1)
        yield found


class Scorer:
    """Computes the official score of many measures for one gap.

    Mutual information is a sum of k log k over counts k, which are looked up: several times faster than
    `official_scores`, and equal but for rounding errors of about 1e-13. Pairs are counted once, not once for the
    measure and once for measure and gap, unless there are many ties (`_counts`).
    """

    def __init__(self, gap: Vector, cond: Conditioning) -> None:
        self._cond = cond
        self._gap_plus = is_larger(gap)
        self._pairs = cond.n_pairs.astype(np.intp)
        self._of_gap = cell_counts(self._gap_plus, cond).astype(np.intp)
        counts = np.arange(self._pairs.max() + 1)
        self._k_log_k = counts * np.log2(np.maximum(counts, 1))
        k = self._k_log_k
        self._known = k[self._pairs] - k[self._of_gap] - k[self._pairs - self._of_gap]
        of_gap = self._of_gap.astype(np.float64)
        self._entropy = gap_entropy(frequencies(of_gap, of_gap, of_gap, cond.n_pairs), EPSILON)
        later = is_larger(np.argsort(np.argsort(gap, kind="stable")))  # as `_gap_plus`, but with an order of equal gaps
        self._tied = np.nonzero(later & ~self._gap_plus)
        self._few_ties = len(self._tied[0]) <= gap.size
        self._later, self._of_later = later, cell_counts(later, cond).astype(np.intp)

    @property
    def has_order(self) -> bool:
        """Whether given each pair of hyperparameters some gaps differ; without, all scores are 0."""
        return all((self._entropy[cells].mean(axis=-1) > 10 * EPSILON).all() for _, cells in self._cond.of_one_size)

    def __call__(self, measures: NDArray[np.floating] | Ranks) -> Vector:
        """Return the score of each row, 0 to 1, shape (n,), of measures of shape (n, n_models)."""
        scores: Vector = self.given_pairs(measures).min(axis=-1)
        return scores

    def given_pairs(self, measures: NDArray[np.floating] | Ranks) -> NDArray[np.float64]:
        """Return the value given each pair of hyperparameters, 0 to 1, in the conditioning's order: (n, n_sets)."""
        both, of_measure = self._counts(is_larger(measures))
        k, gap_only, measure_only = self._k_log_k, self._of_gap - both, of_measure - both
        information = k[both] + k[gap_only] + k[measure_only] + k[self._pairs - gap_only - of_measure]
        information -= k[of_measure] + k[self._pairs - of_measure] - self._known
        information /= self._cond.n_pairs
        values = np.empty((len(measures), len(self._cond.sets)))
        for sets, cells in self._cond.of_one_size:
            values[:, sets] = information[:, cells].mean(axis=-1) / self._entropy[cells].mean(axis=-1)
        return np.maximum(values, 0.0)

    def _counts(self, plus: Signs) -> tuple[Counts, Counts]:
        """Return the pairs of each cell that `plus` and the gap order alike, and those that `plus` does: (n, n_cells).

        If no two values are equal, one of (i, j) and (j, i) is in `plus`, so that the pairs whose second model is the
        later one follow from those whose first is.
        """
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
        """Return how many pairs of each cell are in `plus` and `among`, as `cell_counts`."""
        members, size = self._cond.members, len(self._memory[0])
        counts = np.empty((len(plus), self._cond.first.size), np.intp)
        for start in range(0, len(plus), size):
            some = plus[start : start + size]
            pairs, by_group, by_groups = (memory[: len(some)] for memory in self._memory)
            np.logical_and(some, among, out=pairs)
            # Many small products: for a large one BLAS starts threads, which wait for each other on a busy machine.
            np.matmul(members.T, np.matmul(pairs, members, out=by_group), out=by_groups)
            counts[start : start + size] = by_groups[:, self._cond.first, self._cond.second]
        return counts

    @cached_property
    def _memory(self) -> list[NDArray[np.float32]]:
        """Kept for all counts: what is large is cleared by the system whenever it is allocated anew."""
        n_models, n_groups = self._cond.members.shape
        size = max(1, PAIRS // n_models**2)
        shapes = (n_models, n_models), (n_models, n_groups), (n_groups, n_groups)
        return [np.empty((size, *shape), np.float32) for shape in shapes]

    @cached_property
    def _cells_of_ties(self) -> NDArray[np.float32]:
        """1 where a pair of models with equal gaps is in a cell, else 0, shape (n_ties, n_cells)."""
        members, (first, second) = self._cond.members, self._tied
        return members[first][:, self._cond.first] * members[second][:, self._cond.second]
