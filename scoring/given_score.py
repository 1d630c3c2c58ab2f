"""The official information given some of the hyperparameters, for corpora with empty cells."""

from collections.abc import Sequence
from dataclasses import dataclass

from numpy.typing import ArrayLike

from scoring.conditioning import conditioning
from scoring.contingency import gap_entropy
from scoring.errors import ScoreUndefined
from scoring.grid import Grid
from scoring.jackknife import delete_one, jackknife_interval
from scoring.official import EPSILON, cell_frequencies, conditional_information
from scoring.vectors import as_vectors_of


@dataclass(frozen=True)
class GivenScore:
    """Conditional mutual information of a measure and the gap, given some hyperparameters."""

    score: float  #: minimum of `pairs`, from 0 to 1
    low: float  #: lower end of the 90 % interval, by the jackknife over models
    high: float  #: its upper end
    pairs: dict[tuple[str, str], float]  #: value given each pair of the hyperparameters, names in sorted order


def given_score(measure: ArrayLike, gap: ArrayLike, grid: Grid, names: Sequence[str]) -> GivenScore:
    """Compute the official score's information where only some hyperparameters are conditioned on.

    In the study of invariance (Schiff et al. 2021), models that differ in augmentation alone share a group, and models
    that could not be trained are missing. The formula is that of `official_score`, with every two of `names`; cells
    without a pair of models are left out.

    Args:
        measure: value of the complexity measure for each model, shape (n_models,), finite.
        gap: train accuracy minus test accuracy of each model, shape (n_models,), finite.
        grid: the hyperparameters, models in the same order; cells may be empty.
        names: hyperparameters to condition on, at least two.

    Raises:
        ScoreUndefined: fewer than two names, or no two models of a group have different gaps.
        ValueError: wrong lengths, numbers that are not finite, or a name that is not in the grid.
    """
    measure, gap = as_vectors_of(len(grid.models), measure, gap)
    if unknown := set(names) - set(grid.names):
        raise ValueError(f"expected hyperparameters of the grid, found {', '.join(sorted(unknown))}")
    if len(set(names)) < 2:
        raise ScoreUndefined(f"expected at least 2 hyperparameters to condition on, found {', '.join(names) or 'none'}")
    cond = conditioning(grid, tuple(names))
    p = cell_frequencies(measure, gap, cond)
    entropies = gap_entropy(p, EPSILON)
    for number, pair in enumerate(cond.sets):
        if not (entropies[cond.cells(number)] > EPSILON * 10).any():
            raise ScoreUndefined(f"given {pair[0]} and {pair[1]}, no group has two models with different gaps")
    values = conditional_information(p, cond).tolist()
    low, high = jackknife_interval(min(values), delete_one(measure, gap, cond))
    return GivenScore(min(values), low, high, dict(zip(cond.sets, values, strict=True)))
