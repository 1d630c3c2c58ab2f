"""The PGDL competition's score as its paper prints it; the published scores come from another formula."""

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

from scoring.contingency import frequencies, gap_entropy, mutual_information
from scoring.errors import ScoreUndefined
from scoring.grid import Grid
from scoring.group_counts import ordered_pairs
from scoring.vectors import Vector, as_vectors_of

MAX_CONDITIONED = 2  #: largest size of a set of hyperparameters; the paper leaves it open ("often restricted")


@dataclass(frozen=True)
class PrintedScore:
    """Conditional mutual information of a measure and the gap on one task, by the paper's formula."""

    score: float  #: minimum of `subsets`, from 0 to 1
    #: set of hyperparameters as a sorted tuple, also `()` -> conditional mutual information given the set
    subsets: dict[tuple[str, ...], float]


def printed_score(measure: ArrayLike, gap: ArrayLike, grid: Grid) -> PrintedScore:
    """Return the conditional mutual information by eq. 9 to 14 of the PGDL paper.

    For every set of at most `MAX_CONDITIONED` hyperparameters, models with equal values of these hyperparameters form a
    group. Within a group, each ordered pair of models with different gaps and different values of the measure has two
    signs: of the difference of the gaps, and of the values. The value for the set is the sum over groups of the mutual
    information of both signs, divided by the sum of the entropies of the gap's sign (eq. 12 lacks the minus sign); it
    is 0 if this sum is 0. The score is the minimum over sets.

    A measure and its negative have the same score. If every group has two models, and there are no ties, the value of
    the set is 1. If every group has a single model, the set is skipped.

    Args:
        measure: value of the complexity measure for each model, shape (n_models,), finite.
        gap: train accuracy minus test accuracy of each model, shape (n_models,), finite.
        grid: the task's hyperparameters, models in the same order.

    Raises:
        ScoreUndefined: there is only one model, or a cell of the grid is empty.
        ValueError: wrong lengths or numbers that are not finite.

    Source: Jiang et al., "NeurIPS 2020 Competition: Predicting Generalization in Deep Learning", 2020.
    """
    measure, gap = as_vectors_of(len(grid.models), measure, gap)
    if len(grid.models) < 2:
        raise ScoreUndefined("printed score: expected at least 2 models, found 1")
    if not grid.is_complete:
        raise ScoreUndefined(f"printed score: expected one model in every cell, found {grid.empty_cell()}")
    subsets = {
        names: _conditioned_on(names, measure, gap, grid)
        for size in range(min(MAX_CONDITIONED, len(grid.names)) + 1)
        for names in combinations(grid.names, size)
        if not set(grid.varying) <= set(names)
    }
    return PrintedScore(min(subsets.values()), subsets)


def _conditioned_on(names: tuple[str, ...], measure: Vector, gap: Vector, grid: Grid) -> float:
    alike, opposite = ordered_pairs(gap, measure, grid.group_numbers(names))
    # Of the two ordered pairs of two models, one has the sign +, the other -.
    concordant, differ = alike.astype(np.float64), (alike + opposite).astype(np.float64)
    p = frequencies(concordant, differ, differ, 2 * differ)
    entropy = gap_entropy(p).sum()
    return max(0.0, float(mutual_information(p).sum() / entropy)) if entropy > 0 else 0.0
