"""The explanation of an official score: the hyperparameters, cells and pairs of models that decide it."""

from dataclasses import dataclass
from math import isqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scoring.conditioning import Conditioning, Indices
from scoring.contingency import gap_entropy, mutual_information
from scoring.grid import Grid, Value
from scoring.official import EPSILON, cell_frequencies, conditional_information, official_inputs
from scoring.vectors import Vector

ROUNDING = 1e-12  #: a smaller cost of a pair counts as 0

Matrix = NDArray[np.float64]
Values = tuple[Value, Value]
"""A model's values of the two hyperparameters that decide the score."""


@dataclass(frozen=True)
class CellShare:
    """A cell of ordered pairs of models, and its contribution to the score."""

    first: Values  #: both hyperparameters of the first model of each pair, in the order of their names
    second: Values  #: both hyperparameters of the second model of each pair
    information: float  #: mutual information of the signs of measure and gap, 0 to 1 bit
    entropy: float  #: entropy of the gap's sign, the maximum of `information`, 0 to 1 bit
    share: float  #: contribution of the cell to the score, which is the sum over cells


@dataclass(frozen=True)
class CostlyPair:
    """Two models that the measure and the gap order differently."""

    larger_gap: str  #: id of the model with the larger gap
    smaller_gap: str  #: id of the other model
    difference: float  #: larger gap minus smaller gap
    cost: float  #: increase of the score given `Explanation.deciding` if the measure ordered this pair as the gap does


@dataclass(frozen=True)
class Explanation:
    """The parts that decide an official score."""

    score: float  #: the official score, 0 to 1
    deciding: tuple[str, str]  #: the two hyperparameters with the smallest value, which is the score
    cells: tuple[CellShare, ...]  #: cells of `deciding`, by descending `entropy` minus `information`
    #: wrongly ordered pairs of models, costliest first; pairs of equal cost by descending difference of gaps
    costly_pairs: tuple[CostlyPair, ...]


def explain_score(measure: ArrayLike, gap: ArrayLike, grid: Grid, n_pairs: int = 10) -> Explanation:
    """Find the hyperparameters, cells and pairs of models that decide an official score.

    Values of the measure and gaps (train minus test accuracy) are finite, shape (n_models,), in the order of the grid.
    `n_pairs` is the maximum length of `Explanation.costly_pairs`.

    Raises:
        ScoreUndefined: the grid has no official score.
        ValueError: wrong lengths or numbers that are not finite.
    """
    measure, gap, cond = official_inputs(measure, gap, grid)
    p = cell_frequencies(measure, gap, cond)
    values = conditional_information(p, cond)
    number = int(values.argmin())
    cells = cond.cells(number)
    information, entropy = mutual_information(p[cells]), gap_entropy(p[cells], EPSILON)
    shares = information / entropy.sum()
    described = [
        CellShare(*_values(cond, number, cell, grid), *map(float, numbers))
        for cell, *numbers in zip(range(cells.start, cells.stop), information, entropy, shares, strict=True)
    ]
    described.sort(key=lambda cell: cell.information - cell.entropy)
    groups, _ = cond.groupings[number]
    costly = _costly_pairs(measure, gap, groups, p[cells], cond.n_pairs[cells], n_pairs)
    return Explanation(
        score=float(values[number]),
        deciding=cond.sets[number],
        cells=tuple(described),
        costly_pairs=tuple(CostlyPair(grid.models[i], grid.models[j], d, c) for i, j, d, c in costly),
    )


def _values(cond: Conditioning, number: int, cell: int, grid: Grid) -> tuple[Values, Values]:
    a, b = (grid.values[name] for name in cond.sets[number])
    start = cond.first[cond.bounds[number]]
    first, second = (divmod(int(groups[cell] - start), len(b)) for groups in (cond.first, cond.second))
    return (a[first[0]], b[first[1]]), (a[second[0]], b[second[1]])


def _costly_pairs(
    measure: Vector, gap: Vector, groups: Indices, p: Matrix, n_pairs_of_cell: Vector, most: int
) -> list[tuple[int, int, float, float]]:
    """Return the costliest wrongly ordered pairs: first model, second model, difference of gaps, cost."""
    n_groups = isqrt(len(p))
    members = [np.flatnonzero(groups == group) for group in range(n_groups)]
    # All wrong pairs of a cell cost the same, except pairs with equal values of the measure.
    costs = np.stack([_costs(p, n_pairs_of_cell, tied) for tied in (False, True)])
    levels, has_wrong = costs.round(12), p[:, 0, 1] > 0
    found: list[tuple[int, int, float, float]] = []
    for level in np.unique(levels[:, has_wrong])[::-1]:
        if level <= ROUNDING or len(found) >= most:
            break
        alike = []
        for tied, cell in np.argwhere((levels == level) & has_wrong):
            first, second = (members[group] for group in divmod(int(cell), n_groups))
            compare = np.equal if tied else np.less
            wrong = (gap[first, None] > gap[second]) & compare(measure[first, None], measure[second])
            pairs = [(int(first[i]), int(second[j])) for i, j in np.argwhere(wrong)]
            alike += [(i, j, float(gap[i] - gap[j]), float(costs[tied, cell])) for i, j in pairs]
        found += sorted(alike, key=lambda pair: (-pair[2], *pair[:2]))
    return found[:most]


def _costs(p: Matrix, n_pairs: Vector, tied: bool) -> Vector:
    """Return for each cell the increase of the conditional mutual information if a wrong pair gets the right order.

    The signs of gap and measure change from (+, -) to (+, +), and for the mirrored pair from (-, +) to (-, -). With
    `tied`, the pair has equal values of the measure, so the mirrored pair already has the signs (-, -).
    """
    n_groups = isqrt(len(p))
    backward = np.arange(len(p)).reshape(n_groups, n_groups).T.ravel()
    is_own = backward == np.arange(len(p))
    weight = 1 / n_pairs
    changed = p.copy()
    changed[:, 0, 0] += weight
    changed[:, 0, 1] -= weight
    mirrored = np.where(is_own[:, None, None], changed, p[backward])
    moved = 0 if tied else weight[backward]
    mirrored[:, 1, 1] += moved
    mirrored[:, 1, 0] -= moved
    before = mutual_information(p)
    gained = mutual_information(np.maximum(mirrored, 0)) - before[backward]
    gained += np.where(is_own, 0, mutual_information(np.maximum(changed, 0)) - before)
    return gained / gap_entropy(p, EPSILON).sum()
