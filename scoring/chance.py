"""Permutation tests: whether a measure's official score is higher than a random measure's score."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from scoring.batches import FEWEST, MOST_RESAMPLED, official_scores, ranks
from scoring.conditioning import conditioning
from scoring.grid import Grid
from scoring.official import official_inputs, official_score
from scoring.permutations import Scorer, deals, dealt_values
from scoring.resolution import smallest_p_value
from scoring.streams import stream
from scoring.vectors import Vector

N_PERMUTATIONS = 1000
ROUNDING = 1e-9  #: scores with at most this difference are equal; scores of permutations have other rounding errors


@dataclass(frozen=True)
class Chance:
    """A measure's official score, and the scores of random permutations of its values, all from 0 to 1."""

    score: float  #: official score of the measure
    level: float  #: mean score after a random permutation of the values of all models
    smallest: float  #: the smallest p-value that any measure can have on the grid
    #: pair of hyperparameters -> scores after permutations among models that share both values, (n_permutations,)
    dealt: Mapping[tuple[str, str], Vector] = field(compare=False)

    @property
    def excess(self) -> float:
        """The score minus the level of chance: an estimate of the score on a grid with very many models per cell."""
        return self.score - self.level

    @property
    def p_values(self) -> dict[tuple[str, str], float]:
        """For each pair of hyperparameters, the p-value under the hypothesis that the measure knows only the pair."""
        found = {pair: share_reaching(self.score, scores) for pair, scores in self.dealt.items()}
        return {pair: max(self.smallest, p_value) for pair, p_value in found.items()}

    @property
    def p_value(self) -> float:
        """The largest of `p_values`; the hypothesis is that the measure knows two hyperparameters and nothing else."""
        return max(self.p_values.values())


def compare_with_chance(
    measure: ArrayLike, gap: ArrayLike, grid: Grid, n_permutations: int = N_PERMUTATIONS, seed: int = 0
) -> Chance:
    """Return a measure's official score, and the scores of random permutations of its values.

    A measure that knows two hyperparameters, and nothing else about the gaps, scores more than a random measure. So the
    p-value for a pair of hyperparameters comes from permutations among models that share both values: such permutations
    keep the measure's knowledge of the pair. Values of the measure and gaps (train minus test accuracy) are finite,
    shape (n_models,), in the order of the grid. The same `seed` gives the same `n_permutations` permutations to every
    measure.

    Raises:
        ScoreUndefined: the grid has no official score.
        ValueError: wrong lengths or numbers that are not finite; fewer than one permutation.

    Source: Berger, "Multiparameter hypothesis testing and acceptance sampling", 1982.
    """
    measure, gap, cond = official_inputs(measure, gap, grid)
    if n_permutations < 1:
        raise ValueError(f"n_permutations: expected 1 or more, found {n_permutations}")
    in_order = np.sort(ranks(measure[None])[0]).astype(np.float64)
    level = _level(in_order.tobytes(), gap.tobytes(), grid, n_permutations, seed)
    scorer = Scorer(gap, cond) if gap.size <= MOST_RESAMPLED else None
    dealt = dict[tuple[str, str], Vector]()
    for pair in cond.sets:
        random = stream("permutations", seed)
        if scorer:
            permuted = deals(measure, grid.group_numbers(pair), n_permutations, random)
            dealt[pair] = np.concatenate([*map(scorer, permuted)])
        else:
            dealt[pair] = dealt_values(measure, gap, grid, pair, n_permutations, random)
    return Chance(official_score(measure, gap, grid).score, level, smallest_p_value(grid), dealt)


def share_reaching(observed: float, under_chance: Vector) -> float:
    """Return the p-value (1 + n) / (1 + size of `under_chance`), where n of its numbers are at least `observed`.

    Source: Phipson and Smyth, "Permutation p-values should never be zero", 2010.
    """
    return (1 + int(np.count_nonzero(under_chance >= observed - ROUNDING))) / (1 + under_chance.size)


@lru_cache(maxsize=256)  # equal for all measures without ties
def _level(in_order: bytes, gap: bytes, grid: Grid, n: int, seed: int) -> float:
    measure, gaps = np.frombuffer(in_order), np.frombuffer(gap)
    n, cond = n if gaps.size <= MOST_RESAMPLED else FEWEST, conditioning(grid)
    dealt = deals(measure, np.zeros(gaps.size, np.intp), n, stream("level", seed))
    return float(sum(official_scores(chunk.astype(np.float64), gaps[None], cond).sum() for chunk in dealt)) / n
