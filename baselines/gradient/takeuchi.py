"""Takeuchi's information criterion: the gap that a regular model would have, from gradients and curvature.

For a regular model of m examples the gap is about Tr(H^-1 C) / m, with the Hessian H of the loss and the second moment
C of the gradients of single examples. H has no inverse for a network, so H is replaced by the Fisher matrix F of the
network's own probabilities, and the inverse by that of the trace or of the diagonal. With F whole and fewer examples
than weights, Tr(F^+ C) would be sum_i (1 / p_i - 1), p_i the probability of the right class, whatever the weights.

Weights: as trained. Work: 1 B + min(kappa, 10) B.
"""

import math

import numpy as np

from baselines.core.fisher import fisher_diagonal
from baselines.core.measure import MeasureUnavailable, Need, measure
from baselines.core.sample import Array
from baselines.core.subject import Subject
from baselines.gradient.signal_to_noise import gradient_moments

#: Gradients of answers that are right beyond doubt are squared to less, where their curvature is 0 in single precision.
SMALLEST = float(np.finfo(np.float32).tiny)


@measure(Need.LABELS, Need.GRADIENTS)
def tic_trace(subject: Subject, *, n_samples: int = 2048, n_probes: int = 10, seed: int = 0) -> float:
    """Takeuchi's information criterion with traces: noise of the gradients over curvature.

    Formula: Tr(C) / (m Tr(F)), C = E g_i g_i', F the Fisher matrix. Range: [0, inf). Source: Thomas et al. 2020, arXiv
    1906.07774. Refused: the Fisher matrix is 0 and the gradients are not, as where wrong answers are beyond doubt.

    1 / m where the network's probabilities are right on the training set; 0 where both are 0. A network that is wrong
    and sure of it has large ones.
    """
    noise, curvature = _diagonals(subject, n_samples, n_probes, seed)
    above, below = float(noise.sum()), float(curvature.sum())
    if above > SMALLEST and below == 0:
        raise MeasureUnavailable("needs curvature, which is lacking where a network is wrong beyond doubt")
    return above / below / subject.examples.population if below else 0.0


@measure(Need.LABELS, Need.GRADIENTS)
def tic_diag(
    subject: Subject, *, epsilon: float = 1e-7, n_samples: int = 2048, n_probes: int = 10, seed: int = 0
) -> float:
    """Takeuchi's information criterion with diagonals: noise of each weight's gradient over its curvature.

    Formula: 1/m sum over weights j of C_jj / (F_jj + epsilon), C = E g_i g_i', F the Fisher matrix. Range: [0, inf).
    Source: Thomas et al. 2020, arXiv 1906.07774; the diagonal as in Schneider, Dangel and Hennig 2021, arXiv
    2102.06604.

    Schneider et al. leave out 1/m, and take the diagonal of the Hessian, which is that of F where the network is
    piecewise linear.

    n / m for n weights where the network's probabilities are right on the training set and `epsilon` is small. On eight
    networks of the shipped tasks the default `epsilon` makes it 0.2 to 2.5 % smaller than 0 does.

    Args:
        epsilon: is added to the curvature; weights of less curvature hardly count, and those without do not.
    """
    noise, curvature = _diagonals(subject, n_samples, n_probes, seed)
    curved = curvature + epsilon > 0
    return float(np.sum(noise[curved] / (curvature[curved] + epsilon))) / subject.examples.population


def _diagonals(subject: Subject, n_samples: int, n_probes: int, seed: int) -> tuple[Array, Array]:
    _, squares, unit = gradient_moments(subject, n_samples, seed)
    return math.exp(2 * unit) * squares, fisher_diagonal(subject, n_samples, n_probes, seed)
