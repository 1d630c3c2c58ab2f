"""How alike the gradients of single examples are: their signal-to-noise ratio, and their coherence.

Weights are all that training moved, scales and shifts of normalization among them.

Weights: as trained.
"""

import functools
import math

import numpy as np

from baselines.core.measure import Need, measure
from baselines.core.sample import Array
from baselines.core.subject import Subject, shared
from baselines.gradient.weight_gradients import added, in_one_unit, relative_gradients
from baselines.network.per_example import PASSES, loss_moments

#: Part of a mean square below which a variance is rounding.
ROUNDING = 1e-5


@shared
def gradient_moments(subject: Subject, n_samples: int, seed: int) -> tuple[Array, Array, float]:
    """Means of the gradients of single examples' cross-entropies, and of their squares, weight by weight (weights,).

    The order of the weights is that of `weight_moments`. Gradients are in a unit e^s that may be tiny; s comes last.
    """
    network, sample = subject.network, subject.sample(n_samples, seed)
    run, arrays = functools.partial(loss_moments, network), [sample.inputs, sample.labels]
    total, power, unit = np.zeros(1), np.zeros(1), -math.inf  # float64
    for *moments, other in network.in_batches("gradient moments", run, arrays, size=network.batch_size_of(PASSES)):
        before, now, unit = in_one_unit(unit, float(other))
        total, power = added(total, before, moments[0], now), added(power, before**2, moments[1], now**2)
    return total / len(sample), power / len(sample), unit


@measure(Need.LABELS, Need.GRADIENTS)
def gsnr(subject: Subject, *, n_samples: int = 2048, seed: int = 0) -> float:
    """Minus the mean signal-to-noise ratio of the weights' gradients.

    Formula: -mean over weights j of (E g_ij)^2 / Var g_ij. Range: (-inf, 0]. Source: Liu et al. 2020, arXiv 2001.07384.

    The gradient signal-to-noise ratio is known as GSNR. A large ratio means that a step which helps one example helps
    the others, seen or not; hence the sign. The paper follows it through training; this is its value at the end, where
    the gradients' mean is close to 0. With n examples it is never below 1 / n by much, signal or not. Weights whose
    gradient does not vary, as that of dead units, are left out; 0 if none does.
    """
    mean, square, _ = gradient_moments(subject, n_samples, seed)
    variance = square - mean**2
    varies = variance > ROUNDING * square
    return -float(np.mean(mean[varies] ** 2 / variance[varies])) if varies.any() else 0.0


@measure(Need.LABELS, Need.GRADIENTS)
def m_coherence(subject: Subject, *, n_samples: int = 2048, seed: int = 0) -> float:
    """Minus the number of examples that one example's gradient helps on average, itself included.

    Formula: -n |E g|^2 / E |g_i|^2. Range: [-n, 0]. Source: Chatterjee and Zielinski 2020, arXiv 2008.01217; Chatterjee
    2020, arXiv 2002.10657.

    Minus the m-coherence of the loss' gradients on n training examples. It is -n if all gradients are the same, and -1
    if they are orthogonal; coherent gradients are expected to generalize, hence the sign. At a stationary point their
    sum vanishes, and so does it: it is meant for training, and once a network is fitted it ranks how far training went.
    0 where all gradients are 0.
    """
    squares, _, mean_square, _ = relative_gradients(subject, n_samples, seed)
    power = float(squares.mean())
    return -len(squares) * mean_square / power if power else 0.0
