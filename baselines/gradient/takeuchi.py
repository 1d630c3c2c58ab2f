"""Takeuchi's information criterion: the gap that a regular model would have, from gradients and curvature.

For a regular model of m examples the gap is about Tr(H^-1 C) / m, with the Hessian H of the loss and the second moment
C of the gradients of single examples. H has no inverse for a network, so H is replaced by the Fisher matrix F of the
network's own probabilities, and the inverse by that of the trace or of the diagonal. With F whole and fewer examples
than weights, Tr(F^+ C) would be sum_i (1 / p_i - 1), p_i the probability of the right class, whatever the weights.
"""

from typing import Any

import numpy as np

from baselines.core.lazy import tf
from baselines.core.measure import Need, measure
from baselines.core.sample import Array
from baselines.core.subject import Subject, shared
from baselines.gradient.signal_to_noise import gradient_moments
from baselines.gradient.weight_gradients import PASSES
from baselines.network.per_example import weight_moments

_SOURCE = "Thomas et al. 2020, arXiv 1906.07774"
_COST = "1 B + min(classes, 10) B"
_NEEDS = {Need.DATA, Need.LABELS, Need.GRADIENTS}


@shared
def fisher_diagonal(subject: Subject, n_samples: int, n_probes: int, seed: int) -> Array:
    """Diagonal (weights,) of the Fisher matrix with the network's own probabilities, in the order of `weight_moments`.

    An example's part is J' A A' J, with J the Jacobian of the logits and A = (I - p 1') diag(sqrt(p)). One backward
    pass for each column of A gives it whole; where there are more classes than `n_probes`, as many random
    combinations of the columns have it as their mean.
    """
    network, sample = subject.folded, subject.sample(n_samples, seed)
    classes = network.n_classes
    is_exact = classes <= n_probes
    rng = np.random.default_rng(seed).spawn(1)[0]

    def squares(images: Any, weights: Any) -> Any:
        def value(logits: Any) -> Any:
            p = tf.stop_gradient(tf.nn.softmax(logits))
            mixed = tf.sqrt(p) * weights
            return tf.reduce_sum(logits * (mixed - p * tf.reduce_sum(mixed, axis=1, keepdims=True)), axis=1)

        return weight_moments(network, images, value)[1]

    found = np.zeros(1)
    for probe in range(classes if is_exact else n_probes):
        signs = rng.choice(np.array([-1, 1], np.float32), (len(sample), classes))
        weights = np.tile(np.eye(classes, dtype=np.float32)[probe], (len(sample), 1)) if is_exact else signs
        arrays, size = [sample.inputs, weights], network.batch_size_of(PASSES)
        for power in network.in_batches("Fisher diagonal", squares, arrays, size=size, often=True):
            found = found + power.astype(np.float64)
    return found / (len(sample) * (1 if is_exact else n_probes))


@measure(
    meaning="Takeuchi's information criterion with traces: noise of the gradients over curvature",
    formula="Tr(C) / (m Tr(F)), C = E g_i g_i', F the Fisher matrix",
    source=_SOURCE,
    cost=_COST,
    needs=_NEEDS,
)
def tic_trace(subject: Subject, *, n_samples: int = 2048, n_probes: int = 10, seed: int = 0) -> float:
    """Ratio of the traces of the gradients' second moment and of the Fisher matrix, over m. Range: [0, inf).

    1 / m where the network's probabilities are right on the training set; 0 where both are 0.

    Args:
        subject: the network and its training data.
        n_samples: training examples.
        n_probes: random directions for the Fisher matrix of a network with more classes; with as many or fewer it
            is exact.
        seed: draws examples and directions.
    """
    noise, curvature = _diagonals(subject, n_samples, n_probes, seed)
    total = float(curvature.sum())
    return float(noise.sum()) / total / subject.examples.population if total else 0.0


@measure(
    meaning="Takeuchi's information criterion with diagonals: noise of each weight's gradient over its curvature",
    formula="1/m sum over weights j of C_jj / (F_jj + epsilon), C = E g_i g_i', F the Fisher matrix",
    source=f"{_SOURCE}; the diagonal as in Schneider, Dangel and Hennig 2021, arXiv 2102.06604",
    cost=_COST,
    needs=_NEEDS,
)
def tic_diag(
    subject: Subject, *, epsilon: float = 1e-7, n_samples: int = 2048, n_probes: int = 10, seed: int = 0
) -> float:
    """Criterion whose matrices are replaced by their diagonals. Range: [0, inf).

    n / m for n weights where the network's probabilities are right on the training set and `epsilon` is small.

    Args:
        subject: the network and its training data.
        epsilon: is added to the curvature; weights of less curvature hardly count, and those without do not.
        n_samples: training examples.
        n_probes: as for `tic_trace`.
        seed: draws examples and directions.
    """
    noise, curvature = _diagonals(subject, n_samples, n_probes, seed)
    curved = curvature + epsilon > 0
    return float(np.sum(noise[curved] / (curvature[curved] + epsilon))) / subject.examples.population


def _diagonals(subject: Subject, n_samples: int, n_probes: int, seed: int) -> tuple[Array, Array]:
    return gradient_moments(subject, n_samples, seed)[1], fisher_diagonal(subject, n_samples, n_probes, seed)
