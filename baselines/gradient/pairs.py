"""Angles between the gradients of two examples: does a step for one example reduce the loss of the other, too?

Weights: as trained. Work: 1 backward pass.
"""

from typing import Any

import numpy as np

from baselines.core.measure import MeasureUnavailable, Need, measure
from baselines.core.sample import Array
from baselines.core.subject import Subject, shared
from baselines.network.losses import directions
from baselines.network.per_example import gradient_products


@shared
def _cosines(subject: Subject, n_samples: int, seed: int) -> Array:
    network, sample = subject.network, subject.sample(n_samples, seed)
    if len(sample) < 2:
        raise MeasureUnavailable("needs two training examples")
    network.require_room(len(sample), "try a smaller n_samples")

    def products(images: Any, labels: Any) -> Any:
        # only the directions: products of gradients would underflow for confident predictions
        return gradient_products(network, images, lambda logits: directions(logits, labels))

    arrays = [sample.inputs, sample.labels]
    (found,) = network.in_batches("products of gradients", products, arrays, size=len(sample))
    exact = found.astype(np.float64)
    lengths = np.sqrt(np.maximum(np.diag(exact), 0))
    scales = np.outer(lengths, lengths)
    cosines = np.divide(exact, scales, out=np.zeros_like(exact), where=scales > 0)
    pairs: Array = np.clip(cosines[np.triu_indices(len(sample), 1)], -1, 1)
    return pairs


@measure(Need.LABELS, Need.GRADIENTS)
def gradient_confusion(subject: Subject, *, n_samples: int = 128, seed: int = 0) -> float:
    """Gradient confusion: the largest opposition between the gradients of two examples.

    Formula: -min over pairs i < j of cos(g_i, g_j), g_i the gradient of example i's cross-entropy. Range: [-1, 1].
    Source: Sankararaman et al. 2020, arXiv 1904.06963.

    Sankararaman et al. bound inner products from below, and plot cosines. The value grows with the number of examples.
    """
    return -float(_cosines(subject, n_samples, seed).min())


@measure(Need.LABELS, Need.GRADIENTS)
def neg_stiffness_cosine(subject: Subject, *, n_samples: int = 128, seed: int = 0) -> float:
    """Minus the stiffness: minus the mean cosine between the gradients of two examples.

    Formula: -mean over pairs i < j of cos(g_i, g_j), g_i the gradient of example i's cross-entropy, n examples. Range:
    [-1, 1 / (n - 1)]; -1 if all gradients have the same direction. Source: Fort, Nowak, Jastrzebski and Narayanan 2019,
    arXiv 1901.09491.
    """
    return -float(_cosines(subject, n_samples, seed).mean())


@measure(Need.LABELS, Need.GRADIENTS)
def neg_stiffness_sign(subject: Subject, *, n_samples: int = 128, seed: int = 0) -> float:
    """Minus the sign stiffness: minus the mean sign of the inner product of two examples' gradients.

    Formula: -mean over pairs i < j of sign(g_i . g_j), g_i the gradient of example i's cross-entropy. Range: [-1, 1];
    -1 if all inner products are positive. Source: Fort, Nowak, Jastrzebski and Narayanan 2019, arXiv 1901.09491.
    """
    return -float(np.sign(_cosines(subject, n_samples, seed)).mean())
