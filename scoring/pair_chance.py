"""The stricter test of a measure: whether its information given each pair of hyperparameters is more than nothing."""

from numpy.typing import ArrayLike

from scoring.chance import N_PERMUTATIONS, share_reaching
from scoring.conditioning import conditioning
from scoring.grid import Grid
from scoring.official import official_score
from scoring.permutations import Scorer, deals
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
    scorer = Scorer(gap, conditioning(grid))
    p_values = {}
    for place, (pair, value) in enumerate(official_score(measure, gap, grid).pairs.items()):
        dealt = deals(measure, grid.group_numbers(pair), n_permutations, stream("information", seed))
        p_values[pair] = share_reaching(value, (scorer.given_pairs(rows)[:, place] for rows in dealt), n_permutations)
    return p_values
