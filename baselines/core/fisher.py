"""The Fisher information matrix under the network's own predicted probabilities."""

import math
from typing import Any

import numpy as np

from baselines.core.lazy import tf
from baselines.core.sample import Array
from baselines.core.streams import stream
from baselines.core.subject import Subject, shared
from baselines.network.losses import balanced
from baselines.network.per_example import PASSES, weight_moments


def fisher_diagonal(subject: Subject, n_samples: int, n_probes: int, seed: int, *, folded: bool = False) -> Array:
    """Return the diagonal (weights,) of the Fisher matrix, in the order of `weight_moments`.

    The matrix is the mean over examples of J' A A' J. J is the Jacobian of the logits in the weights, p the predicted
    probabilities, and A = (I - p 1') diag(sqrt(p)). Each column of A takes a backward pass. With more classes than
    `n_probes`, the diagonal is estimated from `n_probes` random combinations of the columns; otherwise it is exact. The
    weights are all trained parameters; if `folded`, kernels and biases. Raises the errors of `per_example`.
    """
    return _fisher_diagonal(subject, n_samples, min(n_probes, subject.network.n_classes), seed, folded=folded)


@shared
def _fisher_diagonal(subject: Subject, n_samples: int, n_probes: int, seed: int, *, folded: bool) -> Array:
    network, sample = subject.seen(folded=folded), subject.sample(n_samples, seed)
    is_exact = n_probes == network.n_classes
    rng = stream("signs of the Fisher diagonal", seed)

    def squares(images: Any, weights: Any) -> Any:
        def slopes(logits: Any) -> Any:
            p = tf.nn.softmax(logits)
            mixed = tf.sqrt(p) * weights
            return balanced(mixed - p * tf.reduce_sum(mixed, axis=1, keepdims=True), logits)

        return weight_moments(network, images, slopes)[1]

    found = np.zeros(sum(math.prod(variable.shape) for variable in network.variables))
    for probe in range(n_probes):
        signs = rng.choice(np.array([-1, 1], np.float32), (len(sample), network.n_classes))
        weights = np.tile(np.eye(n_probes, dtype=np.float32)[probe], (len(sample), 1)) if is_exact else signs
        arrays, size = [sample.inputs, weights], network.batch_size_of(PASSES)
        for power in network.in_batches("Fisher diagonal", squares, arrays, size=size, often=True):
            found += power
    return found / (len(sample) * (1 if is_exact else n_probes))
