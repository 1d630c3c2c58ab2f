"""Error rate and Cohen's kappa of each class, from a confusion matrix."""

import numpy as np
from numpy.typing import ArrayLike

from scoring.vectors import Vector


def error_rates(confusion: ArrayLike) -> Vector:
    """Share of each class' examples that are given another class, in [0, 1], shape (n_classes,).

    Args:
        confusion: number of examples of each true class (rows) that were given each class (columns).

    Raises:
        ValueError: not a square matrix of counts, or a class without examples.
    """
    counts = _counts(confusion)
    rates: Vector = 1 - np.diagonal(counts) / counts.sum(axis=1)
    return rates


def one_vs_rest_kappas(confusion: ArrayLike) -> Vector:
    """Cohen's kappa between truth and prediction of each class against all others, in [-1, 1], shape (n_classes,).

    kappa = (P_0 - P_e) / (1 - P_e), where P_0 is the share of examples on which both agree, and P_e the share on
    which independent ones with the same margins would: 1 is perfect, 0 is chance. If everything is of one class on
    both sides, 1 - P_e = 0 and kappa is 1.

    Source: Cohen, "A coefficient of agreement for nominal scales", 1960. The sum of margins that Huang, Yu and Zhang
    print for P_e is a misprint: it may exceed 1.

    Args:
        confusion: as for `error_rates`.

    Raises:
        ValueError: as for `error_rates`.
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
