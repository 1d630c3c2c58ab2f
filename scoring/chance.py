"""The score that a random measure would get, and permutation tests of whether a score is higher than that."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from scoring.conditioning import conditioning
from scoring.grid import Grid
from scoring.official import official_score, require_official
from scoring.permutations import Scorer, deals
from scoring.streams import stream
from scoring.vectors import Vector, as_vectors_of

N_PERMUTATIONS = 1000
ENOUGH = 0.1  #: no more permutations are drawn once this share of them has reached the score: it is not significant
ROUNDING = 1e-9  #: values as close as this are equal: a permutation that changes nothing must count


@dataclass(frozen=True)
class Chance:
    """An official score beside its distribution under chance. Scores are from 0 to 1.

    Attributes:
        score: official score of the measure.
        level: mean score when its values are dealt out to the models at random.
        p_values: for each pair of hyperparameters, the probability of a score as high if the measure knows nothing of
            the gap but what the pair tells.
    """

    score: float
    level: float
    p_values: Mapping[tuple[str, str], float]

    @property
    def excess(self) -> float:
        """`score` minus `level`; what remains of the score once small cells have had their share."""
        return self.score - self.level

    @property
    def p_value(self) -> float:
        """The largest of `p_values`.

        At most the probability of a score as high for a measure that knows nothing of the gap but what some two
        hyperparameters tell.
        """
        return max(self.p_values.values())


def compare_with_chance(
    measure: ArrayLike, gap: ArrayLike, grid: Grid, n_permutations: int = N_PERMUTATIONS, seed: int = 0
) -> Chance:
    """Compare an official score with what chance gives on the same grid.

    The level comes from permutations of the measure over all models. A measure that follows two hyperparameters, and
    knows nothing else, deserves no score, but has more by chance than one that knows nothing at all. So the p-value of
    a pair of hyperparameters comes from permutations among models that share both, which leave everything that the
    measure knows of the two; that of the score is the largest. P-values are (1 + permutations that reach the score) /
    (1 + permutations): valid, and never 0. Permutations end early once `ENOUGH` have reached the score: the p-value is
    then the share of those drawn (Besag and Clifford), valid too.

    Args:
        measure: value of the complexity measure for each model, shape (n_models,), finite.
        gap: train accuracy minus test accuracy of each model, shape (n_models,), finite.
        grid: the task's hyperparameters, models in the same order.
        n_permutations: for the level and, at most, for each pair.
        seed: the same seed gives the same permutations to every measure.

    Raises:
        ScoreUndefined: the grid has no official score.
        ValueError: wrong lengths or numbers that are not finite; fewer than one permutation.

    Sources: Phipson and Smyth, "Permutation p-values should never be zero", 2010; Besag and Clifford, "Sequential
    Monte Carlo p-values", 1991; Berger, "Multiparameter hypothesis testing and acceptance sampling", 1982.
    """
    measure, gap = as_vectors_of(len(grid.models), measure, gap)
    require_official(grid)
    if n_permutations < 1:
        raise ValueError(f"n_permutations: expected 1 or more, found {n_permutations}")
    score = official_score(measure, gap, grid).score
    scorer = Scorer(gap, conditioning(grid))
    level = _level(np.sort(measure).tobytes(), gap.tobytes(), grid, n_permutations, seed)
    p_values = {}
    for pair in conditioning(grid).sets:
        dealt = deals(measure, grid.group_numbers(pair), n_permutations, stream("permutations", seed))
        p_values[pair] = share_reaching(score, map(scorer, dealt), n_permutations)
    return Chance(score, level, p_values)


def combine_p_values(p_values: Collection[float]) -> float:
    """Return the p-value of independent tasks together; 1 if there is none.

    Small if the measure knows something on at least one of them.

    Source: Fisher, "Statistical methods for research workers", 1932.
    """
    # scipy.stats has this, too, but takes longer to import than all scores to compute.
    from scipy.special import chdtrc

    return float(chdtrc(2 * len(p_values), -2 * np.log(list(p_values)).sum())) if p_values else 1.0


def false_discovery_rates(p_values: Mapping[str, float]) -> dict[str, float]:
    """Adjust the p-values of many submissions: those at most q hold a share of at most q of false discoveries.

    Source: Benjamini and Hochberg, "Controlling the false discovery rate", 1995.
    """
    from scipy.stats import false_discovery_control  # takes longer to import than all scores to compute

    if not p_values:
        return {}
    return dict(zip(p_values, false_discovery_control(list(p_values.values())).tolist(), strict=True))


@lru_cache(maxsize=256)  # the same for all measures without ties
def _level(in_order: bytes, gap: bytes, grid: Grid, n: int, seed: int) -> float:
    measure, gaps = np.frombuffer(in_order), np.frombuffer(gap)
    scorer, everywhere = Scorer(gaps, conditioning(grid)), np.zeros(gaps.size, np.intp)
    dealt = deals(measure, everywhere, n, stream("level", seed))
    return float(sum(scorer(chunk).sum() for chunk in dealt)) / n


def share_reaching(observed: float, dealt: Iterable[Vector], n: int) -> float:
    """Return the p-value of an observed number, given `n` numbers under chance in chunks; ends early by `ENOUGH`."""
    enough = max(1, round(ENOUGH * n))
    drawn = reached = 0
    for chunk in dealt:
        hits = np.flatnonzero(chunk >= observed - ROUNDING)
        if reached + hits.size >= enough:
            return enough / (drawn + int(hits[enough - reached - 1]) + 1)
        drawn, reached = drawn + len(chunk), reached + hits.size
    return (1 + reached) / (1 + n)
