"""Takeuchi's information criterion: the generalization gap of a regular model, from gradients and curvature.

For a regular model and m examples the gap is about Tr(H^-1 C) / m. H is the Hessian of the loss, C the second moment of
the gradients of single examples. A network's H is singular. So the measures replace H by the Fisher matrix F under the
predicted probabilities, and take only the trace or the diagonal of F and C. With the full matrices and fewer examples
than weights, Tr(F^+ C) would be sum_i (1 / p_i - 1), and depend only on the probabilities p_i of the true classes.

Weights: as trained. Work: 1 backward pass + min(kappa, 10) backward passes. Draws: depend on the order of examples if
the number of classes kappa > n_probes.
"""

import math

import numpy as np

from baselines.core.fisher import fisher_diagonal
from baselines.core.measure import MeasureUnavailable, Need, measure
from baselines.core.sample import Array
from baselines.core.subject import Subject
from baselines.gradient.signal_to_noise import gradient_moments

#: Smaller squared gradients are ignored: their curvature may underflow to 0 for confident right predictions.
SMALLEST = float(np.finfo(np.float32).tiny)


@measure(Need.LABELS, Need.GRADIENTS)
def tic_trace(subject: Subject, *, n_samples: int = 2048, n_probes: int = 10, seed: int = 0) -> float:
    """Takeuchi's information criterion with traces: second moment of the gradients over curvature.

    Formula: Tr(C) / (m Tr(F)), C = E g_i g_i', g_i the gradient of example i's cross-entropy, F the Fisher matrix under
    the predicted probabilities, m examples. Range: [0, inf). Source: Thomas et al. 2020, arXiv 1906.07774. Refused: the
    Fisher matrix is 0 and gradients are not, as for wrong predictions with probability 1.

    The value is 1 / m if the labels are distributed as the predicted probabilities. It is 0 if both traces are 0, and
    large for a network that is confident and wrong.
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
    """Takeuchi's information criterion with diagonals: second moment of each weight's gradient over its curvature.

    Formula: 1/m sum over weights j of C_jj / (F_jj + epsilon), C = E g_i g_i', g_i the gradient of example i's
    cross-entropy, F the Fisher matrix under the predicted probabilities, m examples. Range: [0, inf). Source: Thomas et
    al. 2020, arXiv 1906.07774; the diagonal as in Schneider, Dangel and Hennig 2021, arXiv 2102.06604.

    Schneider et al. leave out 1/m, and take the diagonal of the Hessian, which equals the diagonal of F if the network
    is piecewise linear. The value is n / m for n weights if the labels are distributed as the predicted probabilities
    and `epsilon` is small. On eight networks of the shipped tasks, `epsilon` lowers the value by 0.2 to 2.5 %.

    Args:
        epsilon: added to the curvature, so that weights with less curvature than `epsilon` contribute little.
    """
    noise, curvature = _diagonals(subject, n_samples, n_probes, seed)
    curved = curvature + epsilon > 0
    return float(np.sum(noise[curved] / (curvature[curved] + epsilon))) / subject.examples.population


def _diagonals(subject: Subject, n_samples: int, n_probes: int, seed: int) -> tuple[Array, Array]:
    _, squares, unit = gradient_moments(subject, n_samples, seed)
    return math.exp(2 * unit) * squares, fisher_diagonal(subject, n_samples, n_probes, seed)
