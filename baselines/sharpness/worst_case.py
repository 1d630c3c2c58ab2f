"""Sharpness measures of Jiang et al. 2019, from the largest harmless box around the weights.

`box.box_scale` defines the scales alpha and alpha'. Attacks change biases, too, but the trained weights w and the
initial weights w0 are kernels only, unless `include_bias`. n is the number of weights, m that of training examples.
Dziugaite et al. 2020 leave these measures out.

Weights: folded. Draws: depend on the order of input dimensions and of examples. Work: about 200 backward passes over 64
examples and 10 forward passes over 640 examples for alpha, and as many for alpha'; measures share these passes.

accuracy_drop: tolerated loss of accuracy on 640 training examples, in (0, 1] (0.1: from 0.95 to 0.85). alpha is the
    largest scale up to 2 at which attacks cost no more than this. An attack changes every parameter, including biases:
    for alpha by at most alpha, for alpha' by at most alpha' times the parameter's magnitude. Each attack takes 20 steps
    along the sign of the loss' gradient from each of 3 random starts.
include_bias: include biases in w, w0 and n.
"""

import math

from baselines.core.measure import Need, measure
from baselines.core.sample import Array
from baselines.core.subject import Subject
from baselines.sharpness.box import box_scale
from baselines.sharpness.pacbayes import common_variance, isotropic_bound, magnitude_bound, moved, trained

CONFIDENCE = 0.05  #: delta, the probability with which a bound for relative changes may fail


# The bounds, as functions of weights and scales


def box_bound(vector: Array, alpha: float, m: int) -> float:
    """Return the bound |vector|^2 ln(2 n) / (4 alpha^2) + ln(m / alpha) + 10 for n weights and m training examples."""
    return isotropic_bound(vector, alpha, m, math.log(2 * len(vector)))


def magnitude_box_bound(vector: Array, alpha: float, m: int) -> float:
    """Return `magnitude_bound` with the prior's variance (alpha^2 + 4 ln(2 n / delta)) |vector|^2 / n.

    `vector` has n weights; delta is `CONFIDENCE`.
    """
    slack = 4 * math.log(2 * len(vector) / CONFIDENCE)
    return magnitude_bound(common_variance(vector, alpha, slack), vector, alpha, m)


# The measures


@measure(Need.LABELS, Need.GRADIENTS, Need.INITIAL_WEIGHTS)
def sharpness_init(subject: Subject, *, accuracy_drop: float = 0.1, include_bias: bool = False, seed: int = 0) -> float:
    """PAC-Bayes bound with a prior around the initial weights, from the largest box of harmless changes of the weights.

    Formula: |w - w0|^2 ln(2 n) / (4 alpha^2) + ln(m / alpha) + 10, alpha the half side of the largest box in which
    attacks cost at most accuracy_drop, n weights w, initially w0, m examples. Range: (9, inf). Source: Jiang et al.
    2019, arXiv 1912.02178, eq. 51.
    """
    vector = moved(subject, include_bias)
    alpha = box_scale(subject, accuracy_drop, seed, is_relative=False)
    return box_bound(vector, alpha, subject.examples.population)


@measure(Need.LABELS, Need.GRADIENTS)
def sharpness_orig(subject: Subject, *, accuracy_drop: float = 0.1, include_bias: bool = False, seed: int = 0) -> float:
    """PAC-Bayes bound with a prior around zero, from the largest box of harmless changes of the weights.

    Formula: |w|^2 ln(2 n) / (4 alpha^2) + ln(m / alpha) + 10, alpha the half side of the largest box in which attacks
    cost at most accuracy_drop, n weights w, m examples. Range: (9, inf). Source: Jiang et al. 2019, arXiv 1912.02178,
    eq. 52.
    """
    alpha = box_scale(subject, accuracy_drop, seed, is_relative=False)
    return box_bound(trained(subject, include_bias), alpha, subject.examples.population)


@measure(Need.LABELS, Need.GRADIENTS)
def sharpness_flatness(subject: Subject, *, accuracy_drop: float = 0.1, seed: int = 0) -> float:
    """Sensitivity of the training accuracy to the worst change of the weights.

    Formula: 1 / alpha^2, alpha the half side of the largest box in which attacks cost at most accuracy_drop. Range:
    [1/4, 1e12], the ends of the search for alpha; 1/4 if no change is harmful. Source: Jiang et al. 2019, arXiv
    1912.02178, eq. 54.

    Each weight changes by at most alpha. A copy of the code shared with Jiang et al. 2019 limits the Euclidean norm of
    the change instead; its alpha is larger by up to the square root of the number of weights.
    """
    return box_scale(subject, accuracy_drop, seed, is_relative=False) ** -2


@measure(Need.LABELS, Need.GRADIENTS, Need.INITIAL_WEIGHTS)
def sharpness_mag_init(
    subject: Subject, *, accuracy_drop: float = 0.1, include_bias: bool = False, seed: int = 0
) -> float:
    """PAC-Bayes bound like sharpness_init, for changes of the weights in proportion to each weight.

    Formula: 1/4 sum_i ln((eps^2 + (alpha'^2 + 4 ln(2 n / delta)) |w - w0|^2 / n) / (eps^2 + alpha'^2 |w_i - w0_i|^2)) +
    ln(m / alpha') + 10, eps = 0.001, delta = 0.05, alpha' |w_i| the half sides of the largest box in which attacks cost
    at most accuracy_drop, n weights w, initially w0, m examples. Range: (9, inf). Source: Jiang et al. 2019, arXiv
    1912.02178, eq. 58.
    """
    vector = moved(subject, include_bias)
    alpha = box_scale(subject, accuracy_drop, seed, is_relative=True)
    return magnitude_box_bound(vector, alpha, subject.examples.population)


@measure(Need.LABELS, Need.GRADIENTS)
def sharpness_mag_orig(
    subject: Subject, *, accuracy_drop: float = 0.1, include_bias: bool = False, seed: int = 0
) -> float:
    """PAC-Bayes bound like sharpness_orig, for changes of the weights in proportion to each weight.

    Formula: 1/4 sum_i ln((eps^2 + (alpha'^2 + 4 ln(2 n / delta)) |w|^2 / n) / (eps^2 + alpha'^2 w_i^2)) + ln(m /
    alpha') + 10, eps = 0.001, delta = 0.05, alpha' |w_i| the half sides of the largest box in which attacks cost at
    most accuracy_drop, n weights w, m examples. Range: (9, inf). Source: Jiang et al. 2019, arXiv 1912.02178, eq. 59.
    """
    alpha = box_scale(subject, accuracy_drop, seed, is_relative=True)
    return magnitude_box_bound(trained(subject, include_bias), alpha, subject.examples.population)


@measure(Need.LABELS, Need.GRADIENTS)
def sharpness_mag_flatness(subject: Subject, *, accuracy_drop: float = 0.1, seed: int = 0) -> float:
    """Sensitivity of the training accuracy to the worst change in proportion to each weight.

    Formula: 1 / alpha'^2, alpha' |w_i| the half sides of the largest box in which attacks cost at most accuracy_drop.
    Range: [1/4, 1e12], the ends of the search for alpha'; 1/4 if no change is harmful. Source: Jiang et al. 2019, arXiv
    1912.02178, eq. 62.
    """
    return box_scale(subject, accuracy_drop, seed, is_relative=True) ** -2
