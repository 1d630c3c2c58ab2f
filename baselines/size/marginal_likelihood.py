"""The marginal likelihood of the labels under random networks, and the bound that follows."""

import math

import numpy as np

from baselines.core.measure import MeasureUnavailable, Need, measure
from baselines.core.subject import Subject
from baselines.size.orthant import log_probability
from baselines.size.random_networks import random_covariance

#: delta and gamma, the chances that the bound does not hold for the examples, and for the function that is drawn.
CONFIDENCES = (0.05, 0.05)

#: Noise on the outputs over their mean variance: about what the estimate of the covariance is off.
NOISE = 0.01


@measure(Need.LABELS)
def marginal_likelihood_bound(subject: Subject, *, n_draws: int = 100, n_samples: int = 256, seed: int = 0) -> float:
    """Bound on the error by the chance that a random network of the architecture has the training labels.

    Formula: -ln(1 - p) = (-ln P + ln n + ln(1 / delta) + ln(1 / gamma)) / (n - 1), P that of n labels in two groups.
    Range: (0, inf). Source: Valle-Perez and Louis 2020, arXiv 2012.04115, and its code; the probability by expectation
    propagation. Work: 100 F of 256 examples. Draws: by input.

    p bounds the error of a network that fits n training examples. It sees the architecture and the data, not the
    trained weights: all networks of one architecture tie. Where labels are what simple functions give, random networks
    have them more often. As in the authors' code the classes are put into two groups, the lower and the upper half of
    their numbers.

    The authors take the covariance of the limit of infinite width where it is known, and an estimate elsewhere; here it
    is always an estimate, at the network's own width: on the shipped tasks, whose networks are narrow, other seeds move
    the value by 3 %, and fewer draws make it larger. Batch normalization does nothing in a random network. The bound is
    that of training on the examples that are looked at.

    Args:
        n_draws: random networks.
        n_samples: training examples, n; time grows with the cube.

    Raises:
        MeasureUnavailable: random networks put out nothing; there is a single training example.
    """
    covariance = random_covariance(subject, min(n_samples, len(subject.examples)), n_draws, seed)
    labels = subject.sample(n_samples, seed).labels
    if len(labels) < 2:
        raise MeasureUnavailable("needs two training examples")
    signs = np.where(labels < subject.n_outputs / 2, -1.0, 1.0)
    rest = math.log(len(labels)) - sum(map(math.log, CONFIDENCES))
    return (rest - log_probability(covariance, signs, NOISE)) / (len(labels) - 1)
