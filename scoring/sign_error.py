"""The sign-error: the share of pairs of models, different in one hyperparameter, that a measure orders wrongly."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scoring.errors import ScoreUndefined
from scoring.grid import Grid
from scoring.vectors import Vector, as_vectors_of


@dataclass(frozen=True)
class SignErrors:
    """Summary of the sign-errors of several pairs of models, from 0 (always the right order) to 1."""

    mean: float  #: mean over pairs
    percentile_90: float  #: 90th percentile over pairs
    robust: float  #: maximum over pairs; 1 if a single pair has the wrong order
    n_pairs: int


@dataclass(frozen=True)
class SignErrorScore:
    """Sign-errors of a measure on one task."""

    overall: SignErrors  #: summary over all pairs
    varied: Mapping[str, SignErrors]  #: hyperparameter -> summary over the pairs that differ in it


def sign_errors(measure: ArrayLike, gap: ArrayLike, grid: Grid) -> SignErrorScore:
    """Return sign-errors over all pairs of models that differ in exactly one hyperparameter.

    The error of a pair is 0 for the right order, 1 for the wrong order, 1/2 for equal values or gaps. Values of the
    measure and gaps (train minus test accuracy) are finite, shape (n_models,), in the order of the grid, whose cells
    may be empty.

    Raises:
        ScoreUndefined: no two models differ in one hyperparameter only.
        ValueError: wrong lengths or numbers that are not finite.

    Source: Dziugaite et al., "In search of robust measures of generalization", 2020, for a single training of each
        setting, and without weights.
    """
    measure, gap = as_vectors_of(len(grid.models), measure, gap)
    pairs = {varied: _pairs(varied, grid) for varied in grid.names}
    errors = {
        varied: (1 - _signs(measure, first, second) * _signs(gap, first, second)) / 2
        for varied, (first, second) in pairs.items()
        if first.size
    }
    if not errors:
        raise ScoreUndefined("sign-error: expected models that differ in one hyperparameter only, found none")
    summaries = {varied: _summary(of_pairs) for varied, of_pairs in errors.items()}
    return SignErrorScore(_summary(np.concatenate(list(errors.values()))), summaries)


def _pairs(varied: str, grid: Grid) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the first and the second model of each pair that differs in the hyperparameter `varied` only."""
    others = grid.group_numbers([name for name in grid.names if name != varied])
    order = np.lexsort((grid.codes[:, grid.names.index(varied)], others))
    steps = range(1, int(np.bincount(others).max()))
    first = np.concatenate([np.empty(0, np.intp), *(order[:-step] for step in steps)])
    second = np.concatenate([np.empty(0, np.intp), *(order[step:] for step in steps)])
    kept = others[first] == others[second]
    return first[kept], second[kept]


def _signs(values: Vector, first: NDArray[np.intp], second: NDArray[np.intp]) -> NDArray[np.int8]:
    return (values[first] > values[second]).astype(np.int8) - (values[first] < values[second])  # without overflow


def _summary(errors: Vector) -> SignErrors:
    return SignErrors(float(errors.mean()), float(np.quantile(errors, 0.9)), float(errors.max()), errors.size)
