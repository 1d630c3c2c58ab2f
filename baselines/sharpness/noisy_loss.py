"""Flatness as averages over noise on the weights: low-pass filtered loss, local entropy, local energy.

As in the authors' codes, weights w are all trained parameters, including scales and shifts of normalization.

Weights: as trained. Draws: depend on the order of input dimensions.

n_draws: draws of the noise.
"""

import math

import numpy as np

from baselines.core import outputs
from baselines.core.measure import Need, measure
from baselines.core.sample import Array
from baselines.core.subject import Subject, shared
from baselines.sharpness.scales import draws, weight_space


@measure(Need.LABELS)
def low_pass_loss(
    subject: Subject, *, sigma: float = 0.01, n_draws: int = 20, n_samples: int = 1024, seed: int = 0
) -> float:
    """Training loss averaged over noise on the weights (low-pass filter).

    Formula: E_u L(w + u), u_i ~ N(0, sigma^2), w the weights, L the mean cross-entropy. Range: [0, inf). Source: Bisla,
    Wang and Choromanska 2022, arXiv 2201.08025, and its code. Work: 20 forward passes over 1024 examples.

    The noise is in absolute units, so the value changes if a factor moves from a layer's weights to the next layer's.
    Bisla et al. take 100 draws, and all training examples.

    Args:
        sigma: standard deviation of the noise; the default is that of Bisla et al.
    """
    return float(np.mean(_losses(subject, sigma, n_draws, n_samples, seed)))


@measure(Need.LABELS)
def neg_local_entropy(
    subject: Subject, *, gamma: float = 1e4, n_draws: int = 20, n_samples: int = 1024, seed: int = 0
) -> float:
    """Minus the local entropy: minus the logarithm of the likelihood averaged over noise on the weights.

    Formula: -ln E_u exp(-L(w + u)), u_i ~ N(0, 1 / gamma), w the weights, L the mean cross-entropy. Range: [0, inf).
    Source: Chaudhari et al. 2017, arXiv 1611.01838; as a measure: Bisla et al. 2022, arXiv 2201.08025. Work: 20 forward
    passes over 1024 examples, shared with low_pass_loss.

    The value is -ln int exp(-L(w') - gamma |w' - w|^2 / 2) dw', up to a constant that depends on gamma and the number
    of weights. As L is a mean and not a sum, the value is at most `low_pass_loss` with sigma = gamma^(-1/2), and hardly
    smaller if the loss varies little among draws: by less than 1 % on networks of a shipped task. The code of Bisla et
    al. loses the minus sign of L, and the deviation of its noise is 1 / gamma; here it is gamma^(-1/2).

    Args:
        gamma: inverse variance of the noise.
    """
    from scipy.special import logsumexp  # here, so that listing the measures is fast

    losses = _losses(subject, gamma**-0.5, n_draws, n_samples, seed)
    return max(math.log(n_draws) - float(logsumexp(-losses)), 0.0)


@measure(Need.LABELS)
def local_energy(
    subject: Subject, *, sigma: float = 0.2, n_draws: int = 20, n_samples: int = 1024, seed: int = 0
) -> float:
    """Local energy: rise of the training error by noise in proportion to each weight.

    Formula: E_u Err(w + u) - Err(w), u_i ~ N(0, sigma^2 w_i^2), w the weights, Err the training error. Range: [-1, 1].
    Source: Pittorino et al. 2021, arXiv 2006.07897. Work: 21 forward passes over 1024 examples.

    The value stays the same if a factor moves from a layer's weights to the next layer's. It is about 0 at chance
    accuracy, since the error cannot rise. Small values are uncertain: on two networks trained on 1024 digits, the
    standard error of 20 draws is 11 % of the value 0.013, and 25 % of the value 0.0027.

    Args:
        sigma: standard deviation of the noise, divided by the magnitude of the weight.
    """
    space = weight_space(subject, n_samples, seed, folded=False)
    before = outputs.accuracy(outputs.trained_logits(subject, n_samples, seed), space.sample.labels)
    with space.network.restoring():
        moved = (space.trained + sigma * np.abs(space.trained) * noise for noise in draws(space, n_draws, seed))
        after = [outputs.accuracy(space.logits(point), space.sample.labels) for point in moved]
    return before - float(np.mean(after))


@shared
def _losses(subject: Subject, sigma: float, n_draws: int, n_samples: int, seed: int) -> Array:
    space = weight_space(subject, n_samples, seed, folded=False)
    with space.network.restoring():
        moved = (space.trained + np.float32(sigma) * noise for noise in draws(space, n_draws, seed))
        return np.array([outputs.loss(space.logits(point), space.sample.labels) for point in moved])
