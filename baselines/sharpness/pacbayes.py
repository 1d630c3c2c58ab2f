"""PAC-Bayes measures, from the largest harmless noise on the weights and the distance from the initial weights.

`scales.noise_scale` defines the scales sigma and sigma' of the noise. Biases get noise, too, but the trained weights w
and the initial weights w0 are kernels only, unless `include_bias`. There are n weights and m training examples.
The pages of `pacbayes_flatness` and `pacbayes_mag_flatness` explain differences from the code of Dziugaite et al. 2020.

Weights: folded. Draws: depend on the order of input dimensions. Work: about 70 forward passes for sigma and as many for
sigma'; measures share these passes.

accuracy_drop: tolerated loss of training accuracy, a mean over draws, in (0, 1] (0.1: from 0.95 to 0.85). sigma is the
    largest scale up to 2 that costs no more than this. It is the standard deviation of normal noise on all kernels and
    biases. For sigma', the noise on a parameter w has the variance sigma'^2 w^2 + eps^2, eps = 0.001.
n_draws: draws of the noise, the same for every scale. For these draws, the search finds sigma to 0.1 %.
include_bias: include biases in w, w0 and n.
"""

import math

import numpy as np

from baselines.core.measure import Need, measure
from baselines.core.sample import Array
from baselines.core.subject import Subject
from baselines.network import Network
from baselines.sharpness.scales import EPSILON, noise_scale

# The bounds, as functions of weights and scales


def isotropic_bound(vector: Array, scale: float, m: int, factor: float = 1.0) -> float:
    """Return the bound `factor` |vector|^2 / (4 scale^2) + ln(m / scale) + 10 for m training examples."""
    return factor * float(vector @ vector) / (4 * scale**2) + _confidence(scale, m)


def magnitude_bound(prior: float, vector: Array, scale: float, m: int, epsilon: float = EPSILON) -> float:
    """Return the bound 1/4 sum_i ln((epsilon^2 + prior) / (epsilon^2 + scale^2 vector_i^2)) + ln(m / scale) + 10.

    The numerator is the prior's variance, the denominator the noise's variance on weight i; m training examples.
    """
    ratios = (epsilon**2 + prior) / (epsilon**2 + (scale * vector) ** 2)
    return float(np.sum(np.log(ratios))) / 4 + _confidence(scale, m)


def common_variance(vector: Array, scale: float, slack: float = 1.0) -> float:
    """Return the `prior` of `magnitude_bound`: (scale^2 + `slack`) times the mean square of `vector`."""
    return (scale**2 + slack) * float(np.mean(vector**2))


def _confidence(scale: float, m: int) -> float:
    return math.log(m / scale) + 10


# The vectors of weights


def trained(subject: Subject, include_bias: bool) -> Array:
    """Return the trained weights (n,), float64: kernels and, with `include_bias`, biases."""
    return _joined(subject.folded, include_bias)


def moved(subject: Subject, include_bias: bool) -> Array:
    """Return trained minus initial weights (n,), float64; raises `MeasureUnavailable` without initial weights."""
    return trained(subject, include_bias) - _joined(subject.folded_at_start, include_bias)


def _joined(network: Network, include_bias: bool) -> Array:
    if include_bias:
        arrays = [array for position in network.weight_nodes for array in network.nodes[position].weights]
    else:
        arrays = [kernel.array for kernel in network.kernels]
    return np.concatenate([array.ravel().astype(np.float64) for array in arrays])


# The measures


@measure(Need.LABELS, Need.INITIAL_WEIGHTS)
def pacbayes_init(
    subject: Subject, *, accuracy_drop: float = 0.1, n_draws: int = 10, n_samples: int = 2048,
    include_bias: bool = False, seed: int = 0,
) -> float:  # fmt: skip
    """PAC-Bayes bound with a prior around the initial weights, from the largest harmless noise on the weights.

    Formula: |w - w0|^2 / (4 sigma^2) + ln(m / sigma) + 10, w the weights, initially w0, sigma the largest scale of
    noise that costs at most accuracy_drop, m examples. Range: (9, inf). Source: Jiang et al. 2019, arXiv 1912.02178,
    eq. 48.
    """
    vector = moved(subject, include_bias)
    sigma = noise_scale(subject, accuracy_drop, n_draws, n_samples, seed, is_relative=False)
    return isotropic_bound(vector, sigma, subject.examples.population)


@measure(Need.LABELS)
def pacbayes_orig(
    subject: Subject, *, accuracy_drop: float = 0.1, n_draws: int = 10, n_samples: int = 2048,
    include_bias: bool = False, seed: int = 0,
) -> float:  # fmt: skip
    """PAC-Bayes bound with a prior around zero, from the largest harmless noise on the weights.

    Formula: |w|^2 / (4 sigma^2) + ln(m / sigma) + 10, w the weights, sigma the largest scale of noise that costs at
    most accuracy_drop, m examples. Range: (9, inf). Source: Jiang et al. 2019, arXiv 1912.02178, eq. 49.
    """
    sigma = noise_scale(subject, accuracy_drop, n_draws, n_samples, seed, is_relative=False)
    return isotropic_bound(trained(subject, include_bias), sigma, subject.examples.population)


@measure(Need.LABELS)
def pacbayes_flatness(
    subject: Subject, *, accuracy_drop: float = 0.1, n_draws: int = 10, n_samples: int = 2048, seed: int = 0
) -> float:
    """Sensitivity of the training accuracy to noise on the weights.

    Formula: 1 / sigma^2, sigma the largest scale of noise that costs at most accuracy_drop. Range: [1/4, 1e12], the
    ends of the search for sigma; 1/4 if no noise is harmful. Source: Jiang et al. 2019, arXiv 1912.02178, eq. 53.

    The code of Dziugaite et al. 2020 passes the variance sigma^2 where PyTorch expects a standard deviation. So its
    sigma is about the square root of sigma here: 0.561 instead of 0.314 on a network of 84 weights. For sigma < 1, all
    its measures that contain sigma are smaller than here: for sigma = 1/16, the reported sqrt(value / m) is 4 times
    smaller. The code shared with Jiang et al. 2019 draws noise of deviation sigma, as their paper says.

    On five networks trained on 1200 digits, the standard deviation over seeds is 3 to 9 % of sigma, and twice as much
    of the value. On a network with batch normalization and 500 examples, it was 25 % of sigma. `n_draws=40` halves
    these deviations at four times the work. The search is unbiased: at the sigma of each of 16 seeds, new draws of the
    noise cost 0.097 to 0.109 of accuracy on average, for a tolerance of 0.1. Without noise on biases, they cost 0.086
    to 0.091.
    """
    return noise_scale(subject, accuracy_drop, n_draws, n_samples, seed, is_relative=False) ** -2


@measure(Need.LABELS, Need.INITIAL_WEIGHTS)
def pacbayes_mag_init(
    subject: Subject, *, accuracy_drop: float = 0.1, n_draws: int = 10, n_samples: int = 2048,
    include_bias: bool = False, seed: int = 0,
) -> float:  # fmt: skip
    """PAC-Bayes bound with a prior around the initial weights, and noise in proportion to each weight.

    Formula: 1/4 sum_i ln((eps^2 + (sigma'^2 + 1) |w - w0|^2 / n) / (eps^2 + sigma'^2 |w_i - w0_i|^2)) + ln(m / sigma')
    + 10, eps = 0.001, sigma' the largest scale of noise that costs at most accuracy_drop, n weights w, initially w0, m
    examples. Range: (9, inf). Source: Jiang et al. 2019, arXiv 1912.02178, eq. 56.
    """
    vector = moved(subject, include_bias)
    sigma = noise_scale(subject, accuracy_drop, n_draws, n_samples, seed, is_relative=True)
    return magnitude_bound(common_variance(vector, sigma), vector, sigma, subject.examples.population)


@measure(Need.LABELS)
def pacbayes_mag_orig(
    subject: Subject, *, accuracy_drop: float = 0.1, n_draws: int = 10, n_samples: int = 2048,
    include_bias: bool = False, parity_mag_orig: bool = False, seed: int = 0,
) -> float:  # fmt: skip
    """PAC-Bayes bound with a prior around zero, and noise in proportion to each weight.

    Formula: 1/4 sum_i ln((eps^2 + (sigma'^2 + 1) |w|^2 / n) / (eps^2 + sigma'^2 w_i^2)) + ln(m / sigma') + 10, eps =
    0.001, sigma' the largest scale of noise that costs at most accuracy_drop, n weights w, m examples. Range: (9, inf).
    Source: Jiang et al. 2019, arXiv 1912.02178, eq. 57, with w in numerator and denominator.

    Args:
        parity_mag_orig: w - w0 in the denominator and w in the numerator, as in the code of Dziugaite et al. 2020;
            needs the initial weights. No choice of prior yields this formula.
    """
    vector = trained(subject, include_bias)
    of_noise = moved(subject, include_bias) if parity_mag_orig else vector
    sigma = noise_scale(subject, accuracy_drop, n_draws, n_samples, seed, is_relative=True)
    return magnitude_bound(common_variance(vector, sigma), of_noise, sigma, subject.examples.population)


@measure(Need.LABELS, Need.INITIAL_WEIGHTS)
def pacbayes_mag_init_exact(
    subject: Subject, *, accuracy_drop: float = 0.1, n_draws: int = 10, n_samples: int = 2048,
    include_bias: bool = False, seed: int = 0,
) -> float:  # fmt: skip
    """PAC-Bayes bound of pacbayes_mag_init, for exactly the noise that the search for sigma' draws.

    Formula: 1/4 sum_i ln((eps^2 + (sigma'^2 |w|^2 + |w - w0|^2) / n) / (eps^2 + sigma'^2 w_i^2)) + ln(m / sigma') + 10,
    eps = 0.001, sigma' the largest scale of noise that costs at most accuracy_drop, n weights w, initially w0, m
    examples. Range: (9, inf). Source: derived like eq. 56 of Jiang et al. 2019, arXiv 1912.02178, for noise in
    proportion to w_i.
    """
    change, vector = moved(subject, include_bias), trained(subject, include_bias)
    sigma = noise_scale(subject, accuracy_drop, n_draws, n_samples, seed, is_relative=True)
    prior = common_variance(vector, sigma, slack=0.0) + float(np.mean(change**2))
    return magnitude_bound(prior, vector, sigma, subject.examples.population)


@measure(Need.LABELS)
def pacbayes_mag_flatness(
    subject: Subject, *, accuracy_drop: float = 0.1, n_draws: int = 10, n_samples: int = 2048, seed: int = 0
) -> float:
    """Sensitivity of the training accuracy to noise in proportion to each weight.

    Formula: 1 / sigma'^2, sigma' the largest scale of noise that costs at most accuracy_drop. Range: [1/4, 1e12], the
    ends of the search for sigma'; 1/4 if no noise is harmful. Source: Jiang et al. 2019, arXiv 1912.02178, eq. 61.

    The noise on a weight w has the variance sigma'^2 w^2 + eps^2. The code of Dziugaite et al. 2020 uses this variance
    as the deviation, so its noise is not proportional to the weights. On a network of 84 weights it finds sigma' =
    0.444; with the deviation corrected, 0.468 as here. The page of `pacbayes_flatness` says how much draws matter.
    """
    return noise_scale(subject, accuracy_drop, n_draws, n_samples, seed, is_relative=True) ** -2
