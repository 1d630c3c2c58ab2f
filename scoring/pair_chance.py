"""The stricter test of a measure: whether its information given each pair of hyperparameters is more than nothing."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scoring.batches import chunks, ranks
from scoring.chance import N_PERMUTATIONS, ROUNDING
from scoring.contingency import frequencies, gap_entropy, mutual_information
from scoring.grid import Grid
from scoring.official import EPSILON, official_score
from scoring.pair_counts import block_counts, is_larger
from scoring.streams import stream
from scoring.vectors import as_vectors_of


def information_p_values(
    measure: ArrayLike, gap: ArrayLike, grid: Grid, n_permutations: int = N_PERMUTATIONS, seed: int = 0
) -> dict[tuple[str, str], float]:
    """Return, for each pair of hyperparameters, the p-value of the measure's information given this pair.

    Values are permuted among models that share both. The largest answers whether the measure tells something whatever
    is conditioned on; among useless measures it is hardly ever small, and it often overlooks useful ones
    (docs/statistics.md). For the score itself see `compare_with_chance`.

    Args, errors: as `compare_with_chance`.
    """
    measure, gap = as_vectors_of(len(grid.models), measure, gap)
    observed, random = official_score(measure, gap, grid), stream("information", seed)
    return {
        pair: _p_value(grid.groups(measure, by=pair), grid.groups(gap, by=pair), value, n_permutations, random)
        for pair, value in observed.pairs.items()
    }


def _p_value(
    measure: NDArray[np.float64], gap: NDArray[np.float64], observed: float, n: int, random: np.random.Generator
) -> float:
    """Probability of as much information as observed given one set; rows of both arrays are its groups.

    Within a cell, a permutation within groups changes only which signs meet, not how many there are of each.
    """
    n_groups, n_members = gap.shape
    in_group = np.repeat(np.eye(n_groups, dtype=np.float32), n_members, axis=0)
    measure_ranks = ranks(measure.reshape(1, -1)).reshape(measure.shape)
    gap_plus = is_larger(gap.ravel())
    gap_counts, measure_counts = (
        block_counts(pairs, in_group).astype(np.float64) for pairs in (gap_plus, is_larger(measure.ravel()))
    )
    total = np.full((n_groups, n_groups), float(n_members**2))
    entropy = gap_entropy(frequencies(gap_counts, gap_counts, gap_counts, total), EPSILON).mean()
    reached = 0
    for rows in chunks(n, gap.size**2):
        permuted = random.permuted(np.tile(measure_ranks, (rows.stop - rows.start, 1, 1)), axis=-1)
        both = block_counts(gap_plus & is_larger(permuted.reshape(-1, gap.size)), in_group).astype(np.float64)
        information = mutual_information(frequencies(both, gap_counts, measure_counts, total)).mean(axis=(-2, -1))
        reached += int(np.sum(information / entropy >= observed - ROUNDING))
    return (1 + reached) / (1 + n)
