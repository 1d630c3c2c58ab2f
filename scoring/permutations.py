"""Deals the values of a measure out anew, and scores each deal; quick, since the gap stays as it is."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from scoring.batches import chunks, ranks
from scoring.conditioning import Conditioning
from scoring.contingency import frequencies, gap_entropy
from scoring.official import EPSILON
from scoring.pair_counts import cell_counts, is_larger
from scoring.vectors import Vector

Ranks = NDArray[np.integer]


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
    `official_scores`, and equal but for rounding errors of about 1e-13.
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

    def __call__(self, measures: NDArray[np.floating] | Ranks) -> Vector:
        """Return the score of each row, 0 to 1, shape (n,), of measures of shape (n, n_models)."""
        scores: Vector = self.given_pairs(measures).min(axis=-1)
        return scores

    def given_pairs(self, measures: NDArray[np.floating] | Ranks) -> NDArray[np.float64]:
        """Return the value given each pair of hyperparameters, 0 to 1, in the conditioning's order: (n, n_sets)."""
        plus = is_larger(measures)
        both = cell_counts(plus & self._gap_plus, self._cond).astype(np.intp)
        of_measure = cell_counts(plus, self._cond).astype(np.intp)
        k, gap_only, measure_only = self._k_log_k, self._of_gap - both, of_measure - both
        information = k[both] + k[gap_only] + k[measure_only] + k[self._pairs - gap_only - of_measure]
        information -= k[of_measure] + k[self._pairs - of_measure] - self._known
        information /= self._cond.n_pairs
        values = np.empty((len(measures), len(self._cond.sets)))
        for sets, cells in self._cond.of_one_size:
            values[:, sets] = information[:, cells].mean(axis=-1) / self._entropy[cells].mean(axis=-1)
        return np.maximum(values, 0.0)
