"""The probability that correlated normal variables have given signs, by expectation propagation."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from baselines.core.sample import Array

#: Maximum number of sweeps over all variables; change of the log-probability below which they end.
N_SWEEPS, TOLERANCE = 50, 1e-6


class _Cavity(NamedTuple):
    """The cavity distributions of n normal variables: of each variable, given the signs of the other variables."""

    precision: Array
    mean: Array


def log_probability(covariance: Array, signs: Array, noise: float) -> float:
    """Return ln P(signs_i (f_i + e_i) > 0 for all i), f ~ N(0, covariance), e_i ~ N(0, noise). Range: (-inf, 0].

    `covariance` is (n, n), `signs` are 1 or -1 (n,). A normal density with matching moments replaces the condition on
    each sign (Rasmussen and Williams 2006, algorithm 3.5). The result is exact for independent variables, and close for
    others.
    """
    found = -np.inf
    for value in _sweeps(covariance.astype(np.float64), signs.astype(np.float64), noise):
        if abs(value - found) <= TOLERANCE:
            return value
        found = value
    return float(found)


def _sweeps(prior: Array, signs: Array, noise: float) -> Iterator[float]:
    precision, shift = np.zeros(len(signs)), np.zeros(len(signs))  # of the densities that replace the signs
    spread, mean = prior.copy(), np.zeros(len(signs))
    for _ in range(N_SWEEPS):
        for i in range(len(signs)):
            cavity = _cavity(spread[i, i], mean[i], precision[i], shift[i])
            _, center, variance = _moments(cavity, signs[i], noise)
            narrower = 1 / variance - cavity.precision - precision[i]
            moved = center / variance - cavity.precision * cavity.mean - shift[i]
            precision[i] += narrower
            shift[i] += moved
            column, factor = spread[:, i].copy(), narrower / (1 + narrower * spread[i, i])
            mean += column * (moved - factor * (mean[i] + moved * column[i]))
            spread -= factor * np.outer(column, column)
        spread, mean, half_determinant = _posterior(prior, precision, shift)
        rest = _cavity(np.diag(spread), mean, precision, shift)
        logs, total = _moments(rest, signs, noise)[0], precision + rest.precision
        of_signs = np.sum(logs + np.log1p(precision / rest.precision) / 2)
        inside = shift @ (spread @ shift - shift / total)
        outside = (rest.mean * rest.precision / total) @ (precision * rest.mean - 2 * shift)
        yield float(of_signs - half_determinant + (inside + outside) / 2)


def _cavity(variance: Array, mean: Array, precision: Array, shift: Array) -> _Cavity:
    rest = 1 / variance - precision
    return _Cavity(rest, (mean / variance - shift) / rest)


def _moments(cavity: _Cavity, sign: Array, noise: float) -> tuple[Array, Array, Array]:
    from scipy.special import log_ndtr  # here, so that listing the measures is fast

    spread = 1 / cavity.precision
    scale = np.sqrt(noise + spread)
    z = sign * cavity.mean / scale
    logs = log_ndtr(z)
    ratio = np.exp(-(z**2) / 2 - np.log(2 * np.pi) / 2 - logs)
    return (
        logs,
        cavity.mean + sign * spread * ratio / scale,
        spread - (spread * ratio / scale**2) * spread * (z + ratio),
    )


def _posterior(prior: Array, precision: Array, shift: Array) -> tuple[Array, Array, float]:
    from scipy.linalg import cholesky, solve_triangular

    root = np.sqrt(np.maximum(precision, 0))
    lower = cholesky(np.eye(len(root)) + root[:, None] * prior * root, lower=True)
    part = solve_triangular(lower, root[:, None] * prior, lower=True)
    spread = prior - part.T @ part
    return spread, spread @ shift, float(np.sum(np.log(np.diag(lower))))
