"""The score that a random measure would get, and permutation tests of whether a score is higher than that."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scoring.batches import chunks, official_scores, ranks
from scoring.conditioning import Conditioning, conditioning
from scoring.contingency import frequencies, gap_entropy, mutual_information
from scoring.grid import Grid
from scoring.official import EPSILON, official_score, require_official
from scoring.pair_counts import block_counts, is_larger
from scoring.streams import stream
from scoring.vectors import Vector, as_vectors_of

N_PERMUTATIONS = 10_000
ROUNDING = 1e-9  #: values as close as this are equal: a permutation that changes nothing must count


@dataclass(frozen=True)
class Chance:
    """An official score beside its distribution under chance. Scores are from 0 to 1.

    Attributes:
        score: official score of the measure.
        level: mean score when its values are dealt out to the models at random.
        excess: `score` minus `level`; what remains of the score once small cells have had their share.
        p_values: for each pair of hyperparameters, the probability of as much information given them as the measure
            has, if among models that share their values it does not know which has the larger gap.
        p_value: the largest of `p_values`: small only if the measure tells something whatever is conditioned on.
    """

    score: float
    level: float
    excess: float
    p_values: Mapping[tuple[str, str], float]
    p_value: float


def compare_with_chance(
    measure: ArrayLike, gap: ArrayLike, grid: Grid, n_permutations: int = N_PERMUTATIONS, seed: int = 0
) -> Chance:
    """Compare an official score with what chance gives on the same grid.

    The level comes from permutations of the measure over all models. The score is a minimum over conditioning
    sets, so it means something only if each of them does: the p-value of a set comes from permutations within its
    groups of models, and that of the score is the largest (an intersection-union test). P-values are
    (1 + permutations that reach the value) / (1 + permutations): valid, and never 0.

    Args:
        measure: value of the complexity measure for each model, shape (n_models,), finite.
        gap: train accuracy minus test accuracy of each model, shape (n_models,), finite.
        grid: the task's hyperparameters, models in the same order.
        n_permutations: for the level and for each set.
        seed: the same seed gives the same permutations to every measure.

    Raises:
        ScoreUndefined: the grid has no official score.
        ValueError: wrong lengths or numbers that are not finite; fewer than one permutation.

    Sources: Phipson and Smyth, "Permutation p-values should never be zero", 2010; Berger, "Multiparameter
    hypothesis testing and acceptance sampling", 1982.
    """
    measure, gap = as_vectors_of(len(grid.models), measure, gap)
    require_official(grid)
    if n_permutations < 1:
        raise ValueError(f"n_permutations: expected 1 or more, found {n_permutations}")
    cond, random = conditioning(grid), stream("permutations", seed)
    observed = official_score(measure, gap, grid)
    level = _level(measure, gap, cond, n_permutations, random)
    p_values = {
        pair: _p_value(grid.groups(measure, by=pair), grid.groups(gap, by=pair), value, n_permutations, random)
        for pair, value in observed.pairs.items()
    }
    return Chance(observed.score, level, observed.score - level, p_values, max(p_values.values()))


def false_discovery_rates(p_values: Mapping[str, float]) -> dict[str, float]:
    """Adjust the p-values of many submissions: those at most q hold a share of at most q of false discoveries.

    Source: Benjamini and Hochberg, "Controlling the false discovery rate", 1995.
    """
    from scipy.stats import false_discovery_control  # takes longer to import than all scores to compute

    if not p_values:
        return {}
    return dict(zip(p_values, false_discovery_control(list(p_values.values())).tolist(), strict=True))


def _level(measure: Vector, gap: Vector, cond: Conditioning, n: int, random: np.random.Generator) -> float:
    total = 0.0
    for rows in chunks(n, gap.size**2):
        permuted = random.permuted(np.tile(measure, (rows.stop - rows.start, 1)), axis=1)
        total += official_scores(permuted, gap[None], cond).sum()
    return total / n


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
