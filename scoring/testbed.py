"""Statistics of the practical generalization metric: error rates, agreement, spread over classes, divergences.

Source: Huang, Yu and Zhang, "A practical generalization metric for deep networks benchmarking", 2025. The command
`pgdl help testbed` lists the choices that the paper leaves open.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scoring.errors import ScoreUndefined
from scoring.kendall import kendall_tau
from scoring.vectors import Vector

RIDGE = 1e-4  #: number added to the variances of a fitted Gaussian, so that equal points also have a density


@dataclass(frozen=True)
class ClassSpread:
    """Mean and spread of a statistic over classes."""

    mean: float
    deviation: float  #: standard deviation, with the divisor n - 1
    percentile_10: float  #: 10th percentile, interpolated linearly


def class_spread(values: ArrayLike) -> ClassSpread:
    """Return mean and spread of finite `values` (n_classes,); raise `ScoreUndefined` for fewer than two classes."""
    per_class = np.asarray(values, np.float64)
    if per_class.size < 2:
        raise ScoreUndefined(f"spread over classes: expected at least 2 classes, found {per_class.size}")
    return ClassSpread(
        float(per_class.mean()), float(per_class.std(ddof=1)), float(np.percentile(per_class, 10, method="linear"))
    )


def gaussian_divergence(
    mean: ArrayLike, covariance: ArrayLike, origin: ArrayLike, origin_covariance: ArrayLike
) -> float:
    """Return the Kullback-Leibler divergence of a Gaussian from the Gaussian with the mean `origin`, in nats.

    Means have the shape (n,), covariances (n, n). The result is at least 0. Raises `numpy.linalg.LinAlgError` if
    `origin_covariance` is singular.
    """
    first, second = np.asarray(covariance, np.float64), np.asarray(origin_covariance, np.float64)
    shift = np.asarray(mean, np.float64) - np.asarray(origin, np.float64)
    trace = np.trace(np.linalg.solve(second, first))
    distance = shift @ np.linalg.solve(second, shift)
    determinants = np.linalg.slogdet(second).logabsdet - np.linalg.slogdet(first).logabsdet
    return max(float(trace + distance - shift.size + determinants) / 2, 0.0)


def divergences_from(points: list[NDArray[np.float64]], origin: int) -> Vector:
    """Fit a Gaussian to each cloud of points; return its Kullback-Leibler divergence from cloud `origin`, (n_clouds,).

    A cloud has the shape (n, n_dimensions). Raises `ScoreUndefined` if a cloud has fewer than two points.
    """
    fitted = [_fit(cloud) for cloud in points]
    return np.array([gaussian_divergence(*one, *fitted[origin]) for one in fitted])


def inconsistency(measure: ArrayLike, marginals: ArrayLike) -> float:
    """Return the share of pairs of models whose order by measure differs from their order by error, 0 to 1.

    `measure` and the errors `marginals` have the shape (n_models,). A pair with equal values counts as half a pair in
    the wrong order, so the share is (1 - Kendall's tau) / 2.

    Raises:
        ScoreUndefined: fewer than two models.
        ValueError: different lengths or numbers that are not finite.
    """
    return (1 - kendall_tau(measure, marginals)) / 2


def _fit(cloud: NDArray[np.float64]) -> tuple[Vector, NDArray[np.float64]]:
    if len(cloud) < 2:
        raise ScoreUndefined(f"divergence: expected at least 2 points, found {len(cloud)}")
    return cloud.mean(axis=0), np.cov(cloud, rowvar=False) + RIDGE * np.eye(cloud.shape[1])


def error_rates(confusion: ArrayLike) -> Vector:
    """Return the share of misclassified examples of each class, in [0, 1], shape (n_classes,).

    `confusion` counts examples by true class (rows) and predicted class (columns). Raises `ValueError` unless it is a
    square matrix of counts with examples of every class.
    """
    counts = _counts(confusion)
    return 1 - np.diagonal(counts) / counts.sum(axis=1)


def one_vs_rest_kappas(confusion: ArrayLike) -> Vector:
    """Return Cohen's kappa of true and predicted labels, for each class against all others, in [-1, 1], (n_classes,).

    kappa = (P_0 - P_e) / (1 - P_e): P_0 is the share of examples with equal labels, and P_e its expectation for
    independent labels with the same frequencies. If all labels are equal, kappa is 1. `confusion` and exceptions are as
    for `error_rates`.

    Source: Cohen, "A coefficient of agreement for nominal scales", 1960. The formula that Huang, Yu and Zhang print for
    P_e is a misprint: it may exceed 1.
    """
    counts = _counts(confusion)
    total = counts.sum()
    true, given = counts.sum(axis=1) / total, counts.sum(axis=0) / total
    both = np.diagonal(counts) / total
    observed = 1 - true - given + 2 * both
    expected = true * given + (1 - true) * (1 - given)
    trivial = expected >= 1
    with np.errstate(invalid="ignore", divide="ignore"):
        kappas: Vector = np.where(trivial, 1.0, (observed - expected) / (1 - expected))
    return kappas


def _counts(confusion: ArrayLike) -> Vector:
    counts = np.asarray(confusion, np.float64)
    if counts.ndim != 2 or counts.shape[0] != counts.shape[1] or not counts.size:
        raise ValueError(f"confusion: expected a square matrix, found shape {counts.shape}")
    if not (np.isfinite(counts).all() and (counts >= 0).all()):
        raise ValueError("confusion: expected counts, found a number that is negative or not finite")
    if not counts.sum(axis=1).all():
        empty = int(np.flatnonzero(counts.sum(axis=1) == 0)[0])
        raise ValueError(f"confusion: expected examples of every class, found none of class {empty}")
    return counts
