"""Measures that depend only on the architecture, so that models of equal architecture tie."""

import math
from collections.abc import Iterator
from itertools import zip_longest

from baselines.core.measure import measure
from baselines.core.normalization import normalized
from baselines.core.subject import Subject
from baselines.network import Network


@measure()
def num_params(
    subject: Subject, *, include_bias: bool = False, include_bn: bool = False, normalization: str = "none"
) -> float:
    """Number of weights in kernels.

    Formula: sum_i size(W_i), W_i the kernels. Range: [0, inf). Source: Jiang et al. 2019, arXiv 1912.02178, eq. 20.

    Args:
        include_bias: also count biases.
        include_bn: also count scales and shifts of batch normalization.
    """
    network = subject.network
    counted = sum(kernel.array.size for kernel in network.kernels)
    if include_bias:
        counted = sum(array.size for place in network.weight_nodes for array in network.nodes[place].weights)
    if include_bn:
        norms = [node for node in network.nodes if node.kind == "BatchNormalization"]
        counted += sum(array.size for node in norms for array in node.weights[:-2])  # without mean and variance
    return normalized(counted, subject, False, normalization=normalization)


@measure()
def depth(subject: Subject) -> float:
    """Number of weight layers; a separable convolution counts as two.

    Formula: d, the number of kernels. Range: [0, inf). Source: control.
    """
    return len(subject.network.kernels)


@measure()
def vc_dim(subject: Subject, *, image_side: int = 32) -> float:
    """Bound on the VC dimension, computed from the numbers of layers and weights.

    Formula: d + 2 d ln(22 d n^2) sum_i size(W_i), d kernels W_i, images of n x n pixels. Range: [0, inf). Source: PGDL
    starting kit (Jiang et al. 2020, arXiv 2012.07976).

    Args:
        image_side: n, height and width of the images in pixels, 32 in the starting kit; 0 for the longest side of
            the network's inputs.
    """
    kernels = subject.network.kernels
    depth = len(kernels)
    weights = sum(kernel.array.size for kernel in kernels)
    return depth + 2 * depth * math.log(22 * max(depth, 1) * (image_side or side(subject.network)) ** 2) * weights


@measure()
def vc_dim_piecewise_linear(subject: Subject) -> float:
    """Bound on the VC dimension of piecewise linear networks, computed from the sizes of the layers.

    Formula: d + (sum_i (d - i + 1) q_i) log2(8 e sum_i i a_i log2(4 e sum_j j a_j)), q_i parameters (kernels and
    biases) and a_i units (outputs at all positions) of layer i of d layers, e Euler's number. Range: [0, inf). Source:
    Bartlett et al. 2019, arXiv 1703.02930, as in Jiang et al. 2019, arXiv 1912.02178.
    """
    layers = list(_layers(subject.network))
    depth = len(layers)
    capacity = sum((depth - i) * parameters for i, (parameters, _) in enumerate(layers))
    weighted = sum(i * units for i, (_, units) in enumerate(layers, 1))
    return depth + capacity * math.log2(8 * math.e * weighted * math.log2(4 * math.e * weighted))


def _layers(network: Network) -> Iterator[tuple[int, int]]:
    """Yield (number of parameters, number of units) for each kernel; a bias counts with its layer's last kernel."""
    kernels = network.kernels
    for kernel, following in zip_longest(kernels, kernels[1:]):
        shape, node = kernel.array.shape, network.nodes[kernel.node]
        is_last = following is None or following.node != kernel.node
        bias = node.weights[-1].size if is_last and node.config["use_bias"] else 0
        channels = math.prod(shape[-2:]) if kernel.is_depthwise else shape[-1]
        yield kernel.array.size + bias, channels * math.prod(network.shape(kernel.node)[:-1])


@measure()
def vc_dim_conv_bound(subject: Subject, *, delta: float = 0.01) -> float:
    """Generalization bound of convolutional networks, computed from numbers of layers, weights and examples.

    Formula: 4000 sqrt(d log2(6 d n)^3 sum_i size(W_i) / m) + sqrt(ln(1 / delta) / m), d kernels W_i, m inputs whose
    longest side is n pixels, delta the probability of failure. Range: [0, inf). Source: Jiang et al. 2019, arXiv
    1912.02178, eq. 19.
    """
    network, m = subject.network, len(subject.examples)
    depth = len(network.kernels)
    weights = sum(kernel.array.size for kernel in network.kernels)
    capacity = depth * math.log2(6 * depth * side(network)) ** 3 * weights
    return 4000 * math.sqrt(capacity / m) + math.sqrt(math.log(1 / delta) / m)


def side(network: Network) -> int:
    """Return the longest side of the network's inputs in pixels; 1 for vectors."""
    return max(network.input_sides, default=1)
