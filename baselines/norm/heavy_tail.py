"""Power laws in the spectra of the layers' correlation matrices (heavy-tailed self-regularization).

X = W'W of a layer has eigenvalues whose density is about x^-alpha above some x_min. Eigenvalues are those of
`correlation`.
"""

import math
from typing import NamedTuple

import numpy as np

from baselines.core.measure import Cost, MeasureUnavailable, measure
from baselines.core.sample import Array
from baselines.core.subject import Subject, shared
from baselines.norm.correlation import eigenvalues, positive

_SOURCE = "Martin, Peng and Mahoney 2021, arXiv 2002.06716"

#: Logarithms of eigenvalues that differ by less are equal: those of float32 weights are not known better.
EQUAL = 1e-5


class PowerLaw(NamedTuple):
    """A density (alpha - 1) / x_min (x / x_min)^-alpha, x >= x_min, that is fitted to data."""

    alpha: float
    x_min: float
    distance: float  #: largest between its distribution function and that of the data


class Spectrum(NamedTuple):
    """Positive eigenvalues of a layer, in ascending order, and the exponent of their tail."""

    eigenvalues: Array
    alpha: float

    @property
    def log_largest(self) -> float:
        """log10 of the largest eigenvalue."""
        return math.log10(self.eigenvalues[-1])


def fit_power_law(data: Array) -> PowerLaw | None:
    """Fit the tail of positive data: alpha by maximum likelihood, x_min by the least Kolmogorov-Smirnov distance.

    This is the method of Clauset, Shalizi and Newman 2009, arXiv 0706.1062, as package `powerlaw` 1.5 has it (2.0 keeps
    alpha below 3): x_min is any of the values but the largest, and the data's distribution function is 0 at the
    first. None if all are equal. Tails within `EQUAL` are left out.
    """
    logs = np.log(np.sort(data))
    starts = np.flatnonzero(np.diff(logs, prepend=-np.inf) > 0)
    fits = [_fit_tail(logs[start:]) for start in starts if logs[-1] - logs[start] > EQUAL]
    return min(fits, key=lambda fit: fit.distance, default=None)


def _fit_tail(logs: Array) -> PowerLaw:
    """Fit all of ascending logarithms (n,)."""
    above = logs - logs[0]
    exponent = len(logs) / above.sum()
    distance = np.abs(-np.expm1(-exponent * above) - np.arange(len(logs)) / len(logs)).max()
    return PowerLaw(float(1 + exponent), math.exp(logs[0]), float(distance))


@shared
def spectra(subject: Subject, min_eigenvalues: int) -> list[Spectrum]:
    """Return the spectra of all layers with enough positive eigenvalues that are not all equal.

    Raises:
        MeasureUnavailable: there is no such layer.
    """
    found = []
    for values in map(positive, eigenvalues(subject)):
        fit = fit_power_law(values) if len(values) >= min_eigenvalues else None
        if fit is not None:
            found.append(Spectrum(values, fit.alpha))
    if not found:
        raise MeasureUnavailable(
            f"needs a layer with {min_eigenvalues} eigenvalues that are not all equal, which this network lacks"
        )
    return found


@measure(
    meaning="mean exponent of the power laws in the layers' spectra",
    formula="mean over layers of alpha, p(x) ~ x^-alpha for eigenvalues x >= x_min of X = W'W",
    source=_SOURCE,
    cost=Cost.WEIGHTS,
    work="SVD",
)
def alpha(subject: Subject, *, min_eigenvalues: int = 10) -> float:
    """Mean exponent, each at its own x_min. Range: (1, inf).

    A heavy tail, a small alpha, is what the authors expect of well-trained layers. Batch normalization is folded, which
    their program does not do.

    Args:
        subject: the network.
        min_eigenvalues: layers with fewer positive ones do not count.

    Raises:
        MeasureUnavailable: no layer counts.
    """
    return float(np.mean([found.alpha for found in spectra(subject, min_eigenvalues)]))


@measure(
    meaning="weighted alpha: exponents of the layers' spectra times the logarithms of their largest eigenvalues",
    formula="mean over layers of alpha log10 max x",
    source=_SOURCE,
    cost=Cost.WEIGHTS,
    work="SVD",
)
def weighted_alpha(subject: Subject, *, min_eigenvalues: int = 10) -> float:
    """Mean of exponents weighted by scale: about `log_alpha_norm`. Range: (-inf, inf). Parameters: see `alpha`."""
    return float(np.mean([found.alpha * found.log_largest for found in spectra(subject, min_eigenvalues)]))


@measure(
    meaning="log alpha-norm: Schatten norms of the layers' correlation matrices, to the power of their exponents",
    formula="mean over layers of log10 sum_x x^alpha",
    source=_SOURCE,
    cost=Cost.WEIGHTS,
    work="SVD",
)
def log_alpha_norm(subject: Subject, *, min_eigenvalues: int = 10) -> float:
    """Mean logarithm of |X|_alpha^alpha. Range: (-inf, inf). Parameters: see `alpha`."""
    return float(np.mean([_log_norm(found) for found in spectra(subject, min_eigenvalues)]))


def _log_norm(found: Spectrum) -> float:
    relative = found.eigenvalues / found.eigenvalues[-1]
    return found.alpha * found.log_largest + math.log10(np.sum(relative**found.alpha))
