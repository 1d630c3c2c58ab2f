"""The competition's published score: what its scoring program computes, not what its paper prints."""

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scoring.contingency import Signs, frequencies, gap_entropy, mutual_information
from scoring.errors import ScoreUndefined
from scoring.grid import Grid
from scoring.vectors import Vector, as_vectors_of

MINIMUM_HYPERPARAMETERS = 3  #: that vary: fewer leave one pair of models per cell
EPSILON = 1e-12
"""Added inside the entropy's logarithm by the scoring program; a perfect measure scores 1.000000000003."""


@dataclass(frozen=True)
class OfficialScore:
    """Conditional mutual information of a measure and the gap on one task.

    Attributes:
        score: minimum of `pairs`, from 0 (tells nothing) to 1 (orders all models as the gap does).
        pairs: value given each pair of hyperparameters, names in sorted order.
    """

    score: float
    pairs: dict[tuple[str, str], float]


def official_score(measure: ArrayLike, gap: ArrayLike, grid: Grid) -> OfficialScore:
    """Conditional mutual information as the PGDL scoring program computes it (before its factor of 100).

    For every two hyperparameters, the ordered pairs of models (each model with itself included) are split
    into cells by the values that both models have of both hyperparameters. In a cell, the sign of a pair is
    + if the first model's number is strictly larger, else -. The value is the mean over cells of the mutual
    information of the two signs, divided by the mean over cells of the entropy of the gap's sign; the score
    is the minimum.

    The score does not change under strictly increasing transforms of the measure. It does change when the
    measure is negated, because ties and pairs of a model with itself count as -. Small cells raise it by
    chance.

    Args:
        measure: value of the complexity measure for each model, shape (n_models,), finite.
        gap: train accuracy minus test accuracy of each model, shape (n_models,), finite.
        grid: the task's hyperparameters, models in the same order.

    Raises:
        ScoreUndefined: a cell of the grid is empty; or fewer than three hyperparameters vary: conditioning on
            two then leaves one pair of models per cell, and the scoring program returns 0 whatever the measure.
        ValueError: wrong lengths or numbers that are not finite.

    Source: scoring program of the NeurIPS 2020 competition "Predicting Generalization in Deep Learning".
    """
    measure, gap = as_vectors_of(len(grid.models), measure, gap)
    require_official(grid)
    pairs = {pair: _conditioned_on(pair, measure, gap, grid) for pair in combinations(grid.names, 2)}
    return OfficialScore(min(pairs.values()), pairs)


def require_official(grid: Grid) -> None:
    """Raise `ScoreUndefined` for a grid on which the official score means nothing, whatever the measure."""
    if len(grid.varying) < MINIMUM_HYPERPARAMETERS:
        found = ", ".join(grid.varying) or "none"
        raise ScoreUndefined(
            f"official score: expected at least {MINIMUM_HYPERPARAMETERS} hyperparameters that vary, found {found}"
        )
    if not grid.is_complete:
        raise ScoreUndefined(f"official score: expected one model in every cell, found {grid.empty_cell()}")


def _conditioned_on(pair: tuple[str, str], measure: Vector, gap: Vector, grid: Grid) -> float:
    p = cell_frequencies(pair, measure, gap, grid)
    information = mutual_information(p).mean() / gap_entropy(p, EPSILON).mean()
    return max(0.0, float(information))  # only -0.0 and rounding errors are below 0


def cell_frequencies(pair: tuple[str, str], measure: Vector, gap: Vector, grid: Grid) -> NDArray[np.float64]:
    """Tables of signs, shape (first model's group, second model's group, 2, 2); rows gap, columns measure."""
    gap_plus, measure_plus = (_larger(grid.groups(values, by=pair)) for values in (gap, measure))
    return frequencies(gap_plus, measure_plus, np.array(True))


def _larger(groups: NDArray[np.float64]) -> Signs:
    """Whether a member of one group is above a member of another: (n_groups, n_groups, n_members**2)."""
    larger: Signs = groups[:, None, :, None] > groups[None, :, None, :]
    return larger.reshape(len(groups), len(groups), -1)
