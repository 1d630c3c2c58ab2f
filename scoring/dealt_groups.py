"""Deals the values of a measure out within groups, where models are so many that pairs cannot be counted each time."""

import numpy as np
from numpy.typing import NDArray

from scoring.conditioning import conditioning
from scoring.contingency import frequencies, gap_entropy, mutual_information
from scoring.grid import Grid
from scoring.group_counts import cell_sums, ordered_counts, smaller_counts
from scoring.official import EPSILON
from scoring.streams import stream
from scoring.vectors import Vector

RANK = 8  #: of the counts in a group: keeps 99 % of their variance and more


def dealt_values(
    measure: Vector, gap: Vector, grid: Grid, pair: tuple[str, str], n: int, random: np.random.Generator
) -> Vector:
    """The value given a pair of hyperparameters, when the measure is dealt out among models that share both, n times.

    How many models of each group have smaller numbers than a model does not change with the deal, so the pairs that
    both order alike are the sum of products over models (Hajek's projection of the count). The projection
    leaves out 1 / (2 * models in a group) of the count's variance.

    Returns:
        Shape (n,), 0 to 1. Each is at least the official score of that deal, the lowest over all pairs.
    """
    cond = conditioning(grid, pair)
    groups, n_groups = cond.groupings[0]
    size = gap.size // n_groups
    of_gap, of_measure = (
        cell_sums(smaller_counts(values, groups, n_groups), groups, n_groups) for values in (gap, measure)
    )
    # The expected count; within a group, a model makes no pair with itself.
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
    values: Vector = np.maximum(found / entropy, 0)
    return values


class _Counted:
    """For each model, the models of each group that are smaller and larger, less the mean of the model's group.

    They are smooth functions of the number, so few orthonormal vectors for each group are enough (RANK).

    Attributes:
        basis: the vectors of each group, shape (n_groups, models in a group, rank).
        parts: the counts in terms of these, first the smaller and then the larger: (n_groups, 2 * n_groups, rank).

    Source: Halko, Martinsson and Tropp, "Finding structure with randomness", 2011.
    """

    def __init__(self, values: Vector, groups: NDArray[np.intp], n_groups: int) -> None:
        both_ways = np.hstack(ordered_counts(values, groups, n_groups))
        counts = both_ways[np.argsort(groups, kind="stable")].reshape(n_groups, -1, 2 * n_groups)
        counts -= counts.mean(axis=1, keepdims=True)
        mixed = stream("basis", n_groups).normal(size=(2 * n_groups, RANK)).astype(np.float32)
        self.basis = np.linalg.qr(counts @ mixed).Q
        self.parts = counts.swapaxes(1, 2) @ self.basis
