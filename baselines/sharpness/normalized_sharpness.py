"""Normalized sharpness: a curvature, relative to the weights, that stays the same if units are rescaled."""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from baselines.core.fisher import fisher_diagonal
from baselines.core.lazy import tf
from baselines.core.measure import Need, measure
from baselines.core.sample import Array
from baselines.core.subject import Subject
from baselines.network.network import Kernel, Network
from baselines.network.per_example import is_stacked


def by_channels(network: Network, kernel: Kernel) -> Array:
    """Return a kernel as (groups, window, inputs, outputs); a depthwise kernel has one group with one input."""
    array = kernel.array
    window = math.prod(array.shape[:-2])
    if kernel.is_depthwise:
        return array.reshape(1, window, 1, -1)
    return np.moveaxis(array.reshape(window, array.shape[-2], _groups(network, kernel), -1), 2, 0)


def moments_by_channels(network: Network, moments: Array) -> Iterator[Array]:
    """Yield the moments of each kernel's entries, in the shape of `by_channels`.

    `moments` (weights,) is one of the results of `weight_moments`.
    """
    place, first = None, 0
    for kernel in network.kernels:
        if kernel.node != place:  # biases come before
            place = kernel.node
            first += network.shape(place)[-1] if network.nodes[place].config["use_bias"] else 0
        last = first + kernel.array.size
        yield _in_order(network, kernel, moments[first:last])
        first = last


def _in_order(network: Network, kernel: Kernel, entries: Array) -> Array:
    groups, window, inputs, outputs = by_channels(network, kernel).shape
    if kernel.is_depthwise:
        return entries.reshape(groups, window, inputs, outputs)
    if is_stacked(kernel.array.shape, (*network.shape(kernel.node)[:-1], outputs)):
        return np.moveaxis(entries.reshape(groups, outputs, window, inputs), 1, -1)
    return np.swapaxes(entries.reshape(groups, window, outputs, inputs), 2, 3)


def _groups(network: Network, kernel: Kernel) -> int:
    node = network.nodes[kernel.node]
    return int(node.config["groups"]) if node.kind in ("Conv1D", "Conv2D", "Conv3D") else 1


#: Maximum number of rounds of the minimization; relative change at which it ends.
N_ROUNDS, TOLERANCE = 1000, 1e-6


@measure(Need.LABELS, Need.GRADIENTS)
def normalized_sharpness(subject: Subject, *, n_probes: int = 10, n_samples: int = 2048, seed: int = 0) -> float:
    """Smallest sum of loss rise and divergence under noise on the weights, with a variance factor for each channel.

    Formula: sum over kernels w of min_{a, b > 0} sum_ij (h_ij a_i b_j + w_ij^2 / (a_i b_j)) / 2, h the diagonal of the
    Hessian of the mean cross-entropy with kappa classes. Range: [0, inf). Source: after Tsuzuku, Sato and Sugiyama
    2020, arXiv 1901.04653. Work: min(kappa, 10) backward passes. Weights: as trained. Draws: depend on the order of
    examples if kappa > n_probes. Refused: gradients of a layer cannot be separated by example.

    Noise on w_ij has the variance a_i b_j, with a factor a_i for each input channel and b_j for each output channel,
    shared by all positions of the window and separate for groups of a convolution. The noise raises the loss by sum
    h_ij a_i b_j / 2. Its PAC-Bayes divergence from a prior of the same width around 0 is sum w_ij^2 / (2 a_i b_j).
    Tsuzuku et al. weight both terms, which multiplies the value by a constant. For homogeneous activations, the value
    does not depend on the scale of a unit. Alternating minimization finds the minimum, since the logarithm of the sum
    is convex in ln a and ln b.

    h is the diagonal of the Fisher matrix under the predicted probabilities, as for `tic_diag`. It equals the diagonal
    of the Hessian if the network is piecewise linear, else that of the Gauss-Newton matrix. Channels without curvature
    or without weights contribute nothing. Only kernels are included.
    """
    network = subject.network
    curvatures = moments_by_channels(network, fisher_diagonal(subject, n_samples, n_probes, seed))
    value = 0.0
    for h, kernel in zip(curvatures, network.kernels, strict=True):
        squares = np.square(by_channels(network, kernel), dtype=np.float64)
        value += sum(map(smallest, h.sum(axis=1), squares.sum(axis=1)))
    return value


def smallest(curvature: Array, squares: Array) -> float:
    """Return min over a, b > 0 of sum_ij (h_ij a_i b_j + s_ij / (a_i b_j)) / 2, h = `curvature`, s = `squares`."""
    curvature, squares = _without_idle(curvature.astype(np.float64), squares)
    if not curvature.size:
        return 0.0
    h, s = tf.constant(curvature), tf.constant(squares)
    columns, before = tf.ones_like(h[0]), np.inf
    for _ in range(N_ROUNDS):
        rows, _ = _best(h, s, columns)
        columns, value = _best(tf.transpose(h), tf.transpose(s), rows)
        if before - value <= TOLERANCE * value:
            break
        before = value
    return value


def _best(h: Any, s: Any, others: Any) -> tuple[Any, float]:
    rise, divergence = tf.linalg.matvec(h, others), tf.linalg.matvec(s, 1 / others)
    return tf.sqrt(divergence / rise), float(tf.reduce_sum(tf.sqrt(divergence * rise)))


def _without_idle(curvature: Array, squares: Array) -> tuple[Array, Array]:
    size = None
    while size != curvature.size:
        size = curvature.size
        for _ in range(2):
            used = curvature.any(axis=1) & squares.any(axis=1)
            curvature, squares = curvature[used].T, squares[used].T
    return curvature, squares
