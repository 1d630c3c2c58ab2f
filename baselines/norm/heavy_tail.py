"""Power laws in the spectra of the layers' correlation matrices (heavy-tailed self-regularization).

The eigenvalues x of a layer's X = W'W have a density of about x^-alpha above some x_min. See `correlation` for layers.

Source: Martin, Peng and Mahoney 2021, arXiv 2002.06716, as computed by their program WeightWatcher 0.7.7. Work: SVD.
"""

import math
from typing import NamedTuple

import numpy as np

from baselines.core.measure import MeasureUnavailable, measure
from baselines.core.sample import Array
from baselines.core.subject import Subject, shared
from baselines.norm.correlation import counted_layers

#: Eigenvalues up to this number are left out of the fit.
ZERO = 1e-5

#: With fewer than `FEW` eigenvalues, the bias of alpha is corrected, and a tail has at least `SHORTEST` eigenvalues.
FEW, SHORTEST = 20, 8

#: Logarithms of eigenvalues that differ by at most this number count as equal: float32 weights are not more accurate.
EQUAL = 1e-5


class PowerLaw(NamedTuple):
    """A density (alpha - 1) / x_min (x / x_min)^-alpha for x >= x_min that was fitted to data."""

    alpha: float
    x_min: float
    distance: float  #: Kolmogorov-Smirnov distance between density and data


class Spectrum(NamedTuple):
    """The eigenvalues of a layer, ascending, and the exponent of their power law."""

    eigenvalues: Array
    alpha: float

    @property
    def log_largest(self) -> float:
        """log10 of the largest eigenvalue."""
        return math.log10(self.eigenvalues[-1])


def fit_power_law(data: Array) -> PowerLaw | None:
    """Fit a power law to the tail (the largest values) of positive data; None if no tail is possible.

    As in Clauset, Shalizi and Newman 2009, arXiv 0706.1062, every value except the largest is tried as x_min, and the
    least Kolmogorov-Smirnov distance decides. The maximum likelihood for n values of a tail is at alpha - 1 = n / sum
    ln(x / x_min). For data of fewer than `FEW` values, n - 1 replaces n, and tails have at least `SHORTEST` values (all
    values, if there are fewer). A tail is left out if the logarithms of x_min and of its largest value differ by at
    most `EQUAL`.
    """
    logs = np.log(np.sort(data))
    is_small = len(logs) < FEW
    n_starts = max(len(logs) - (SHORTEST if is_small else 2) + 1, 1)
    starts = [start for start in range(n_starts) if logs[-1] - logs[start] > EQUAL] if len(logs) else []
    fits = [_fit_tail(logs[start:], is_small) for start in starts]
    return min(fits, key=lambda fit: fit.distance, default=None)


def _fit_tail(logs: Array, is_small: bool) -> PowerLaw:
    above = logs - logs[0]
    exponent = (len(logs) - is_small) / above.sum()
    distance = np.abs(-np.expm1(-exponent * above) - np.arange(len(logs)) / len(logs)).max()
    return PowerLaw(float(1 + exponent), math.exp(logs[0]), float(distance))


@shared
def spectra(subject: Subject, min_eigenvalues: int) -> list[Spectrum]:
    """Return the spectra of the `counted_layers`, except those whose eigenvalues above `ZERO` are all equal."""
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
    all layers are left out.

    WeightWatcher's `alpha`. The authors expect heavy tails, that is small alphas, of well-trained layers. Definition:

    1. The layers are dense layers, embeddings and convolutions; normalization is not folded. A convolution has a matrix
       W (inputs, outputs), divided by sqrt(2), for each position of its window; other layers have a single W. The
       eigenvalues are the squares of the min(inputs, outputs) singular values of each W, for all positions together.
       Layers with fewer than `min_eigenvalues` (WeightWatcher's `min_evals`) or more than 15,000 eigenvalues, zeros
       included, or with a side above 50,000 are left out.
    2. x_1 <= ... <= x_N are the eigenvalues above 1e-5. The tail from s has n = N - s + 1 values and x_min = x_s. Its
       exponent is alpha_s = 1 + n / sum_{i >= s} ln(x_i / x_s), with n - 1 in place of n for N < 20.
    3. The distance of the tail is the maximum of |1 - (x_i / x_s)^(1 - alpha_s) - (i - s) / n| over i >= s. alpha is
       the alpha_s of the tail with the least distance among tails of at least 2 values. For N < 20 tails have at least
       8 values, and for N < 8 only s = 1 is tried. Tails with ln(x_N / x_s) <= 1e-5 are left out.

    A shared layer counts once; if two modules of PyTorch share their weights, WeightWatcher counts both. For a layer
    without a power law WeightWatcher averages in -1; here the layer is left out.
    """
    return float(np.mean([found.alpha for found in spectra(subject, min_eigenvalues)]))


@measure()
def weighted_alpha(subject: Subject, *, min_eigenvalues: int = 8) -> float:
    """Weighted alpha: mean over layers of the power-law exponent times the logarithm of the largest eigenvalue.

    Formula: mean over layers of alpha log10 max x, x eigenvalues of X = W'W, alpha their exponent. Range: all numbers.

    WeightWatcher's `alpha_weighted`, close to `log_alpha_norm`. The page of `alpha` defines layers and exponents.
    """
    return float(np.mean([found.alpha * found.log_largest for found in spectra(subject, min_eigenvalues)]))


@measure()
def log_alpha_norm(subject: Subject, *, min_eigenvalues: int = 8) -> float:
    """Log alpha-norm: mean over layers of the logarithm of the alpha-th power of the Schatten alpha-norm of X.

    Formula: mean over layers of log10 sum_x x^alpha, x eigenvalues of X = W'W, alpha their exponent. Range: all
    numbers.

    WeightWatcher's `log_alpha_norm`. The page of `alpha` defines layers, eigenvalues and exponents.
    """
    return float(np.mean([_log_norm(found) for found in spectra(subject, min_eigenvalues)]))


def _log_norm(found: Spectrum) -> float:
    relative = found.eigenvalues / found.eigenvalues[-1]
    return found.alpha * found.log_largest + math.log10(np.sum(relative**found.alpha))
