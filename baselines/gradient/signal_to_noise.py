"""Agreement between the gradients of single examples: signal-to-noise ratio and coherence.

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

#: A variance below this fraction of the mean square counts as zero, because of rounding.
ROUNDING = 1e-5


@shared
def gradient_moments(subject: Subject, n_samples: int, seed: int) -> tuple[Array, Array, float]:
    """Return mean and mean square (weights,) of g_i / e^s, and s; g_i is example i's loss gradient.

    The scalar s is chosen such that no square underflows.
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
    """Minus the mean gradient signal-to-noise ratio (GSNR) of the weights.

    Formula: -mean over weights j of (E g_ij)^2 / Var g_ij, g_ij the derivative of example i's cross-entropy in weight
    j. Range: (-inf, 0]. Source: Liu et al. 2020, arXiv 2001.07384.

    A step along gradients with a large ratio reduces the loss of most examples, even of unseen examples; so the sign is
    minus. Liu et al. follow the ratio through training. Here it is taken at the end of training, when the mean gradient
    is close to 0. Without any signal, the ratio estimated from n examples is about 1 / n. Weights with a constant
    gradient, as in dead units, are left out; the value is 0 if no weight is left.
    """
    mean, square, _ = gradient_moments(subject, n_samples, seed)
    variance = square - mean**2
    varies = variance > ROUNDING * square
    return -float(np.mean(mean[varies] ** 2 / variance[varies])) if varies.any() else 0.0


@measure(Need.LABELS, Need.GRADIENTS)
def m_coherence(subject: Subject, *, n_samples: int = 2048, seed: int = 0) -> float:
    """Minus the m-coherence: minus the mean number of examples that profit from a step along an example's gradient.

    Formula: -n |E g|^2 / E |g_i|^2, g_i the gradient of example i's cross-entropy, n examples, E g the mean of g_i.
    Range: [-n, 0]. Source: Chatterjee and Zielinski 2020, arXiv 2008.01217; Chatterjee 2020, arXiv 2002.10657.

    The value is -n if all gradients are equal, -1 if they are orthogonal, and 0 if all are 0. Coherent gradients are
    expected to generalize, so the sign is minus. The measure is meant for use during training. The gradients of a
    fitted network sum to about 0, and the value only shows how far training went.
    """
    squares, _, mean_square, _ = relative_gradients(subject, n_samples, seed)
    power = float(squares.mean())
    return -len(squares) * mean_square / power if power else 0.0
