"""Measures that see only the architecture: all models of one architecture tie."""

import math

from baselines.measure import Need, measure
from baselines.network import INPUT
from baselines.subject import Subject

_KIT = "PGDL starting kit (Jiang et al. 2020, arXiv 2012.07976)"


@measure(
    family="size",
    meaning="number of weights in kernels",
    formula="sum_i size(W_i)",
    source="Jiang et al. 2019, arXiv 1912.02178, eq. 20",
    cost="none",
)
def num_params(subject: Subject) -> float:
    """Number of weights in the kernels of all weight layers, biases left out. Range: [0, inf)."""
    return sum(kernel.array.size for kernel in subject.network.kernels)


@measure(
    family="size",
    meaning="bound on the VC dimension, from depth and number of weights",
    formula="d + 2 d ln(22 d n^2) sum_i size(W_i)",
    source=_KIT,
    cost="none",
)
def vc_dim(subject: Subject, *, image_side: int = 32) -> float:
    """Bound on the VC dimension, with d weight layers. Range: [0, inf).

    Args:
        subject: the network.
        image_side: n, height and width of the images in pixels. The starting kit of the competition, whose
            formula this is, takes 32 for every task.
    """
    kernels = subject.network.kernels
    depth = len(kernels)
    weights = sum(kernel.array.size for kernel in kernels)
    return depth + 2 * depth * math.log(22 * max(depth, 1) * image_side**2) * weights


@measure(family="size", meaning="number of weight layers", formula="d", source="control", cost="none")
def depth(subject: Subject) -> float:
    """Number of weight layers. Range: [0, inf)."""
    return len(subject.network.kernels)


@measure(
    family="size",
    meaning="bound on the VC dimension of piecewise linear networks",
    formula="d + sum_i (d - i + 1) q_i log2(8 e sum_i i a_i log2(4 e sum_j j a_j))",
    source="Bartlett, Harvey, Liaw and Mehrabian 2019, as in Jiang et al. 2019",
    cost="none",
)
def vc_dim_piecewise_linear(subject: Subject) -> float:
    """Bound with q_i parameters and a_i units in layer i of d. Range: [0, inf)."""
    network = subject.network
    places = network.weight_nodes
    weights = [sum(array.size for array in network.nodes[place].weights) for place in places]
    units = sum(i * math.prod(network.shape(place)) for i, place in enumerate(places, 1))
    layers = len(places)
    above = sum((layers - i + 1) * q for i, q in enumerate(weights, 1))
    return layers + above * math.log2(8 * math.e * units * math.log2(4 * math.e * units))


@measure(
    family="size",
    meaning="generalization bound of convolutional networks, from sizes alone",
    formula="4000 sqrt(d log2(6 d n)^3 sum_i k_i^2 c_i c_{i-1} / m) + sqrt(ln(1/delta) / m)",
    source="Jiang et al. 2019, arXiv 1912.02178, eq. 19",
    cost="none",
    needs={Need.DATA},
)
def vc_dim_conv_bound(subject: Subject, *, delta: float = 0.01) -> float:
    """Bound for inputs of side n and m training examples, with probability 1 - delta. Range: [0, inf)."""
    network, m = subject.network, len(subject.examples)
    layers, side = len(network.kernels), network.shape(INPUT)[0]
    weights = sum(kernel.array.size for kernel in network.kernels)
    return 4000 * math.sqrt(layers * math.log2(6 * layers * side) ** 3 * weights / m) + math.sqrt(-math.log(delta) / m)
