"""Power laws in the spectra of the layers' correlation matrices (heavy-tailed self-regularization).

X = W'W of a layer has eigenvalues whose density is about x^-alpha above some x_min. Layers and eigenvalues are those of
`correlation`. WeightWatcher 0.7.7 with its defaults gives the same values.

Source: Martin, Peng and Mahoney 2021, arXiv 2002.06716, as their program WeightWatcher 0.7.7 computes it. Work: SVD.
"""

import math
from typing import NamedTuple

import numpy as np

from baselines.core.measure import MeasureUnavailable, measure
from baselines.core.sample import Array
from baselines.core.subject import Subject, shared
from baselines.norm.correlation import counted_layers

#: Eigenvalues up to this are no part of a power law.
ZERO = 1e-5

#: With fewer eigenvalues than `FEW` the bias of alpha is corrected, and a tail has at least `SHORTEST`.
FEW, SHORTEST = 20, 8

#: Logarithms of eigenvalues that differ by less are equal: those of float32 weights are not known better.
EQUAL = 1e-5


class PowerLaw(NamedTuple):
    """A density (alpha - 1) / x_min (x / x_min)^-alpha, x >= x_min, that is fitted to data."""

    alpha: float
    x_min: float
    distance: float  #: largest between its distribution function and that of the data


class Spectrum(NamedTuple):
    """Eigenvalues of a layer, in ascending order, and the exponent of their tail."""

    eigenvalues: Array
    alpha: float

    @property
    def log_largest(self) -> float:
        """log10 of the largest eigenvalue."""
        return math.log10(self.eigenvalues[-1])


def fit_power_law(data: Array) -> PowerLaw | None:
    """Fit the tail of positive data: alpha by maximum likelihood, x_min by the least Kolmogorov-Smirnov distance.

    This is the method of Clauset, Shalizi and Newman 2009, arXiv 0706.1062: x_min is any of the values but the largest,
    and the data's distribution function is 0 at the first. Of n < `FEW` values, 1 / (alpha - 1) is a sum over n - 1 and
    not over n, and tails of fewer than `SHORTEST` are left out, unless there are no others. None if all are equal.
    Tails within `EQUAL` are left out.
    """
    logs = np.log(np.sort(data))
    is_small = len(logs) < FEW
    n_starts = max(len(logs) - (SHORTEST if is_small else 2) + 1, 1)
    starts = [start for start in range(n_starts) if logs[-1] - logs[start] > EQUAL] if len(logs) else []
    fits = [_fit_tail(logs[start:], is_small) for start in starts]
    return min(fits, key=lambda fit: fit.distance, default=None)


def _fit_tail(logs: Array, is_small: bool) -> PowerLaw:
    """Fit all of ascending logarithms (n,)."""
    above = logs - logs[0]
    exponent = (len(logs) - is_small) / above.sum()
    distance = np.abs(-np.expm1(-exponent * above) - np.arange(len(logs)) / len(logs)).max()
    return PowerLaw(float(1 + exponent), math.exp(logs[0]), float(distance))


@shared
def spectra(subject: Subject, min_eigenvalues: int) -> list[Spectrum]:
    """Return the spectra of all layers that count, whose eigenvalues above `ZERO` are not all equal."""
    found = []
    for layer in counted_layers(subject, min_eigenvalues):
        fit = fit_power_law(layer.eigenvalues[layer.eigenvalues > ZERO])
        if fit is not None:
            found.append(Spectrum(layer.eigenvalues, fit.alpha))
    if not found:
        raise MeasureUnavailable("needs a layer with eigenvalues that are not all equal, which this network lacks")
    return found


@measure()
def alpha(subject: Subject, *, min_eigenvalues: int = 8) -> float:
    """Mean exponent of the power laws in the layers' spectra.

    Formula: mean over layers of alpha, p(x) ~ x^-alpha for eigenvalues x >= x_min of X = W'W. Range: (1, inf). Refused:
    no layer counts.

    Mean exponent, each at its own x_min: weightwatcher's `alpha`. A heavy tail, a small alpha, is what the authors
    expect of well-trained layers. For each layer:

    1. Dense layers, tables of embeddings and convolutions count, with normalization not folded. A convolution is a
       matrix W (inputs, outputs) for each place of its window, divided by the root of 2; others are one W. The
       eigenvalues are the squares of the min(inputs, outputs) singular values of each W, of all places together.
       Layers with fewer than 8 or more than 15,000 eigenvalues, or a side above 50,000, do not count.
    2. x_1 <= ... <= x_N are the eigenvalues above 1e-5. The tail from s has n = N - s + 1 of them and x_min = x_s. Its
       exponent is alpha_s = 1 + n / sum_{i >= s} ln(x_i / x_s), and with n - 1 in place of n for N < 20.
    3. Its distance is the largest of |1 - (x_i / x_s)^(1 - alpha_s) - (i - s) / n| over i >= s. alpha is that of the
       tail with the least distance, among those of 2 values and more; for N < 20, of 8 and more, or s = 1 alone for
       N < 8. Tails in which ln(x_N / x_s) <= 1e-5 are left out.

    A layer that is used twice counts once; if two modules of PyTorch share their weights, the program counts both. For
    a layer without a power law it reports -1 and includes that in its mean; here such a layer does not count.

    Args:
        min_eigenvalues: layers with fewer, zeros included, do not count (its `min_evals`).
    """
    return float(np.mean([found.alpha for found in spectra(subject, min_eigenvalues)]))


@measure()
def weighted_alpha(subject: Subject, *, min_eigenvalues: int = 8) -> float:
    """Weighted alpha: exponents of the layers' spectra times the logarithms of their largest eigenvalues.

    Formula: mean over layers of alpha log10 max x. Range: all numbers.

    Mean of exponents times scale: weightwatcher's `alpha_weighted`, about `log_alpha_norm`. The page of `alpha` has the
    formulas of layers, eigenvalues and exponents.
    """
    return float(np.mean([found.alpha * found.log_largest for found in spectra(subject, min_eigenvalues)]))


@measure()
def log_alpha_norm(subject: Subject, *, min_eigenvalues: int = 8) -> float:
    """Log alpha-norm: Schatten norms of the layers' correlation matrices, to the power of their exponents.

    Formula: mean over layers of log10 sum_x x^alpha. Range: all numbers.

    Mean logarithm of |X|_alpha^alpha: weightwatcher's `log_alpha_norm`. The page of `alpha` has the formulas of layers,
    eigenvalues and exponents.
    """
    return float(np.mean([_log_norm(found) for found in spectra(subject, min_eigenvalues)]))


def _log_norm(found: Spectrum) -> float:
    relative = found.eigenvalues / found.eigenvalues[-1]
    return found.alpha * found.log_largest + math.log10(np.sum(relative**found.alpha))
