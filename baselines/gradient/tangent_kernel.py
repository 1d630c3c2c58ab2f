"""The empirical neural tangent kernel: inner products of the logits' gradients with respect to the weights.

The mean over the kappa classes is subtracted from the logits, and the kernel is averaged over classes.

Weights: as trained. Work: min(kappa, 10) backward passes.
"""

import math
from typing import Any

import numpy as np

from baselines.core.lazy import tf
from baselines.core.measure import MeasureUnavailable, Need, measure
from baselines.core.sample import Array
from baselines.core.streams import stream
from baselines.core.subject import Subject, shared
from baselines.network.per_example import gradient_products


@shared
def tangent_kernel(subject: Subject, n_samples: int, n_probes: int, seed: int) -> tuple[Array, Array]:
    """Return the kernel (n, n), float64, of random examples, and their labels as corners of a simplex (n, classes).

    With more classes than `n_probes`, the mean over classes is estimated by `n_probes` random combinations of logits.
    """
    network, sample = subject.network, subject.sample(n_samples, seed)
    if len(np.unique(sample.labels)) < 2:
        raise MeasureUnavailable("needs training examples of two classes, and all that were drawn are of one")
    network.require_room(len(sample), "try a smaller n_samples")

    def products(images: Any, direction: Any) -> Any:
        return gradient_products(network, images, lambda logits: tf.ones_like(logits) * direction)

    directions = _directions(network.n_classes, n_probes, seed)
    kernel = np.zeros((len(sample), len(sample)))
    for direction in directions:
        run = network.in_batches("tangent kernel", products, [sample.inputs], direction, size=len(sample), often=True)
        kernel += next(run).astype(np.float64)
    return kernel / len(directions), _corners(sample.labels, network.n_classes)


def _directions(n_classes: int, n_probes: int, seed: int) -> Array:
    """Return rows (rows, classes) whose products with logits are the centred logits.

    With more classes than `n_probes`, the products are `n_probes` random combinations of the centred logits.
    """
    combined = np.eye(n_classes)
    if n_classes > n_probes:
        signs = stream("signs of the tangent kernel", seed).choice([-1.0, 1.0], (n_probes, n_classes))
        combined = signs / math.sqrt(n_classes)
    found: Array = (combined - combined.mean(axis=1, keepdims=True)).astype(np.float32)
    return found


def _corners(labels: Array, n_classes: int) -> Array:
    found: Array = (np.eye(n_classes)[labels] - 1 / n_classes) * math.sqrt(n_classes / (n_classes - 1))
    return found


@measure(Need.LABELS, Need.GRADIENTS)
def ntk_alignment(subject: Subject, *, n_samples: int = 128, n_probes: int = 10, seed: int = 0) -> float:
    """Minus the centred alignment of the neural tangent kernel with the labels.

    Formula: -<H K H, Y Y'> / (|H K H|_F |H Y Y' H|_F), K_ij = mean over classes c of <d g_c(x_i) / dw, d g_c(x_j) /
    dw>, g the logits minus their mean over classes, w the weights, rows of Y the labels as corners of a simplex; H
    subtracts means over examples. Range: [-1, 0]; -1 if H K H is a multiple of H Y Y' H. Source: Baratin et al. 2021,
    arXiv 2008.00938; Cortes, Mohri and Rostamizadeh 2012, arXiv 1203.0550.

    Baratin et al. show that the alignment grows during training. The value does not depend on the scale of K, but
    changes if a factor moves from a layer's weights to the next layer's. The value is 0 if all examples have the same
    gradient.

    The logits are centred because a constant added to all logits does not change predictions; on two networks trained
    on 1024 digits, centring changes the value by 0.03 %. The authors' code neither centres logits nor averages over
    classes: its kernel has a row for each logit of each example. On these networks, the authors' code gives -0.059 and
    -0.063, against -0.530 and -0.520 here. For orthogonal gradients of different logits, and kappa = 10 classes of
    equal size, the values would differ by the factor sqrt(kappa (kappa - 1)), about 9.5.
    """
    kernel, labels = tangent_kernel(subject, n_samples, n_probes, seed)
    kernel, labels = _centered(_centered(kernel).T), _centered(labels)
    scale = float(np.linalg.norm(kernel) * np.linalg.norm(labels.T @ labels))
    return -float(np.sum(labels * (kernel @ labels))) / scale if scale else 0.0


@measure(Need.LABELS, Need.GRADIENTS)
def ntk_complexity(
    subject: Subject, *, n_samples: int = 128, ridge: float = 1e-3, n_probes: int = 10, seed: int = 0
) -> float:
    """Complexity of the labels for the neural tangent kernel: their norm in the kernel's Hilbert space.

    Formula: sqrt(2 tr(Y' (K + r I / 2)^-1 Y) / n) for n examples. Each row of Y is a label, as a corner of a simplex;
    K is the kernel of ntk_alignment, scaled to K_ii = 1/2 on average; r is `ridge`. Range: (0, 2 / sqrt(ridge)].
    Source: Arora, Du, Hu, Li and Wang 2019, arXiv 1901.08584, with the kernel of the trained network. Refused: all
    gradients are 0.

    The value is the main term of a bound on the test error. Arora et al. have labels 1 and -1 and the kernel of an
    infinitely wide network of two layers on inputs of length 1, for which K_ii is 1/2. Here K is scaled to the same
    mean. A common factor of all gradients does not change the value. The value changes if a factor moves from a layer's
    weights to the next layer's.

    Args:
        ridge: r, added to the diagonal relative to the mean of K_ii: K is then invertible even if gradients are equal.
    """
    kernel, labels = tangent_kernel(subject, n_samples, n_probes, seed)
    mean = float(np.trace(kernel)) / len(kernel)
    if mean <= 0:
        raise MeasureUnavailable("needs gradients of the logits, which are all 0")
    scaled = kernel / (2 * mean) + ridge / 2 * np.eye(len(kernel))
    return math.sqrt(2 * float(np.sum(labels * np.linalg.solve(scaled, labels))) / len(kernel))


def _centered(rows: Array) -> Array:
    found: Array = rows - rows.mean(axis=0)
    return found
