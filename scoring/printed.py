"""The PGDL competition's score as its paper prints it; the published scores come from another formula."""

from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from scoring.contingency import frequencies, gap_entropy, mutual_information
from scoring.errors import ScoreUndefined
from scoring.grid import Grid
from scoring.group_counts import pairs_in_groups
from scoring.vectors import Vector, as_vectors_of

Ties = Literal["drop", "minus"]
"""A pair of models with equal gaps or equal values of the measure is left out ("drop"), or has the sign - ("minus")."""


@dataclass(frozen=True)
class PrintedScore:
    """Conditional mutual information of a measure and the gap on one task, by the paper's formula."""

    score: float  #: minimum of `subsets`, from 0 to 1
    #: set of hyperparameters as a sorted tuple, also `()` -> conditional mutual information given the set
    subsets: dict[tuple[str, ...], float]


def printed_score(
    measure: ArrayLike, gap: ArrayLike, grid: Grid, max_conditioned: int = 2, ties: Ties = "drop"
) -> PrintedScore:
    """Return the conditional mutual information by eq. 9 to 14 of the PGDL paper.

    For every set of at most `max_conditioned` hyperparameters, models with equal values of these hyperparameters form a
    group. Within a group, each ordered pair of different models has two signs: the sign of the difference of their gaps
    and the sign of the difference of their measures. The value for the set is the sum over groups of the mutual
    information of both signs, divided by the sum over groups of the entropy of the gap's sign (eq. 12 lacks the minus
    sign of the entropy). The value is 0 if the sum of entropies is 0. The score is the minimum over sets.

    If `ties` is "drop", a measure and its negative have the same score. If every group has two models, and there are no
    ties, the value for the set is 1. If every group has a single model, the set is skipped.

    Args:
        measure: value of the complexity measure for each model, shape (n_models,), finite.
        gap: train accuracy minus test accuracy of each model, shape (n_models,), finite.
        grid: the task's hyperparameters, models in the same order.
        max_conditioned: largest size of a set; the paper leaves it open ("often restricted").
        ties: "drop" omits pairs with equal gaps or values; "minus" gives them the sign -, as the scoring program does.

    Raises:
        ScoreUndefined: there is only one model, or a cell of the grid is empty.
        ValueError: wrong lengths, numbers that are not finite, or `max_conditioned` below 0.

    Source: Jiang et al., "NeurIPS 2020 Competition: Predicting Generalization in Deep Learning", 2020.
    """
    measure, gap = as_vectors_of(len(grid.models), measure, gap)
    if max_conditioned < 0:
        raise ValueError(f"max_conditioned: expected 0 or more, found {max_conditioned}")
    if len(grid.models) < 2:
        raise ScoreUndefined("printed score: expected at least 2 models, found 1")
    if not grid.is_complete:
        raise ScoreUndefined(f"printed score: expected one model in every cell, found {grid.empty_cell()}")
    subsets = {
        names: _conditioned_on(names, measure, gap, grid, ties)
        for size in range(min(max_conditioned, len(grid.names)) + 1)
        for names in combinations(grid.names, size)
        if not set(grid.varying) <= set(names)
    }
    return PrintedScore(min(subsets.values()), subsets)


def _conditioned_on(names: tuple[str, ...], measure: Vector, gap: Vector, grid: Grid, ties: Ties) -> float:
    groups = grid.group_numbers(names)
    pairs, sizes = pairs_in_groups(gap, measure, groups), np.bincount(groups).astype(np.float64)
    # If the numbers of two models differ, one of their two ordered pairs has the sign +, the other -.
    alike, gap_plus, measure_plus = (
        each.astype(np.float64) for each in (pairs.alike, pairs.gap_differs, pairs.measure_differs)
    )
    if ties == "drop":
        differ = alike + pairs.opposite
        p = frequencies(alike, differ, differ, 2 * differ)
    else:
        p = frequencies(alike, gap_plus, measure_plus, sizes * (sizes - 1))
    entropy = gap_entropy(p).sum()
    return max(0.0, float(mutual_information(p).sum() / entropy)) if entropy > 0 else 0.0
