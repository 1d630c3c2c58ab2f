"""The sign-error: the share of pairs of models, different in one hyperparameter, that a measure orders wrongly."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scoring.errors import ScoreUndefined
from scoring.grid import Grid
from scoring.vectors import Vector, as_vectors_of

MINIMUM_EFFECTIVE_PAIRS = 12.0  #: smallest effective number of pairs of an environment with repeated trainings


@dataclass(frozen=True)
class SignErrors:
    """Summary of the sign-errors of several environments, from 0 (always the right order) to 1. See `sign_errors`."""

    mean: float  #: mean over environments
    percentile_90: float  #: 90th percentile over environments
    robust: float  #: maximum over environments
    n_environments: int


@dataclass(frozen=True)
class SignErrorScore:
    """Sign-errors of a measure on one task."""

    overall: SignErrors  #: summary over all environments
    #: hyperparameter -> summary over the environments whose settings differ in it
    varied: Mapping[str, SignErrors]
    n_discarded: int  #: number of environments that were left out because the order of their gaps is too uncertain


def sign_errors(
    measure: ArrayLike, gap: ArrayLike, grid: Grid, test_images: int | None = None, seed: str | None = None
) -> SignErrorScore:
    """Return sign-errors over all environments of a task.

    A setting consists of values of all hyperparameters but `seed`. An environment is a pair of settings that differ in
    exactly one hyperparameter. It contains every pair of a model of one setting and a model of the other. Its error is
    a weighted mean over these pairs: 0 for the right order, 1 for the wrong order, 1/2 for equal values or gaps.

    With `test_images`, a pair's weight is the certainty of the order of its gaps (`order_certainty`) minus 1/2, at
    least 0. For 10,000 images, it is 0 if the gaps differ by less than 0.0196. With `seed`, an environment is discarded
    if (sum of weights)^2 / (sum of squared weights) is below `MINIMUM_EFFECTIVE_PAIRS`. Without `seed`, an environment
    is a single pair, and a single wrong pair makes `robust` 1; `mean` and `percentile_90` say more.

    Args:
        measure: value of the complexity measure for each model, shape (n_models,), finite.
        gap: train accuracy minus test accuracy of each model, shape (n_models,), finite.
        grid: the task's hyperparameters, models in the same order; cells may be empty.
        test_images: number of images on which gaps were measured; None gives all pairs the same weight.
        seed: name of the hyperparameter that numbers repeated trainings of a setting; None if there are no repeats.

    Raises:
        ScoreUndefined: there is no environment, or all are discarded.
        ValueError: wrong lengths, numbers that are not finite, no test image, or no hyperparameter `seed`.

    Source: Dziugaite et al., "In search of robust measures of generalization", 2020.
    """
    measure, gap = as_vectors_of(len(grid.models), measure, gap)
    if test_images is not None and test_images < 1:
        raise ValueError(f"test_images: expected 1 or more, found {test_images}")
    if seed is not None and seed not in grid.names:
        raise ValueError(f"seed: expected one of {', '.join(grid.names)}, found {seed!r}")
    settings = [name for name in grid.names if name != seed]
    least = 0.0 if seed is None else MINIMUM_EFFECTIVE_PAIRS
    errors, discarded = {}, 0
    for varied in settings:
        found = _environments(varied, settings, grid)
        kept = _losses(found, measure, gap, test_images, least)
        discarded += len(np.unique(found[2])) - len(kept)
        if kept.size:
            errors[varied] = kept
    if not errors:
        raise ScoreUndefined(
            f"sign-error: expected pairs that differ in one hyperparameter, found {discarded} too noisy"
        )
    summaries = {name: _summary(losses) for name, losses in errors.items()}
    return SignErrorScore(_summary(np.concatenate(list(errors.values()))), summaries, discarded)


def order_certainty(difference: ArrayLike, test_images: int) -> Vector:
    """Return the certainty of the order of two gaps, 0 to 1, for their difference.

    It is the square of Hoeffding's lower bound on the probability that one gap is estimated well enough.
    """
    bound = 1 - 2 * np.exp(-2 * test_images * (np.asarray(difference, np.float64) / 2) ** 2)
    certainty: Vector = np.maximum(bound, 0) ** 2
    return certainty


Environments = tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]
"""Three arrays of shape (n_pairs,): each pair's first model, second model, and environment."""


def _environments(varied: str, settings: list[str], grid: Grid) -> Environments:
    others = grid.group_numbers([name for name in settings if name != varied])
    values = grid.codes[:, grid.names.index(varied)]
    order = np.lexsort((values, others))
    steps = range(1, int(np.bincount(others).max()))
    first = np.concatenate([np.empty(0, np.intp), *(order[:-step] for step in steps)])
    second = np.concatenate([np.empty(0, np.intp), *(order[step:] for step in steps)])
    kept = (others[first] == others[second]) & (values[first] < values[second])  # without overflow
    setting = grid.group_numbers(settings)
    return first[kept], second[kept], setting[first[kept]] * len(grid.models) + setting[second[kept]]


def _losses(environments: Environments, measure: Vector, gap: Vector, test_images: int | None, least: float) -> Vector:
    first, second, number = environments
    _, position = np.unique(number, return_inverse=True)
    agreement = _signs(measure, first, second) * _signs(gap, first, second)
    weights = np.ones(first.size)
    if test_images is not None:
        weights = np.maximum(order_certainty(gap[first] - gap[second], test_images) - 0.5, 0)
    total, squared, wrong = (
        np.bincount(position, weights=w) for w in (weights, weights**2, weights * (1 - agreement) / 2)
    )
    with np.errstate(invalid="ignore"):
        effective = total**2 / squared
    kept = (total > 0) & (effective >= least)
    losses: Vector = wrong[kept] / total[kept]
    return losses


def _signs(values: Vector, first: NDArray[np.intp], second: NDArray[np.intp]) -> NDArray[np.int8]:
    return (values[first] > values[second]).astype(np.int8) - (values[first] < values[second])  # without overflow


def _summary(losses: Vector) -> SignErrors:
    return SignErrors(float(losses.mean()), float(np.quantile(losses, 0.9)), float(losses.max()), losses.size)
