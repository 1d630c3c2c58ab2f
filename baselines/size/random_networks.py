"""What an architecture computes before training: the covariance of the outputs of random networks."""

import math
from dataclasses import replace

import numpy as np

from baselines.core.needs import MeasureUnavailable
from baselines.core.product import product
from baselines.core.sample import Array
from baselines.core.streams import stream
from baselines.core.subject import Subject, shared
from baselines.network import Network
from baselines.network.nodes import NORMALIZATIONS, Node
from baselines.network.penultimate import last_weight_nodes, penultimate_branches


@shared
def random_covariance(subject: Subject, n_samples: int, n_draws: int, seed: int) -> Array:
    """Covariance (n, n) of an output over random networks, for training examples; its mean variance is 1.

    Kernels are normal with a variance of 2 / (number of inputs of a unit), biases are 0, normalizations as before
    training. Over the last weight layers the average is exact. So this is the kernel of the Gaussian process that the
    architecture becomes in the limit of infinite width, estimated at its own width.

    Raises:
        MeasureUnavailable: the outputs are all 0, or not finite.
    """
    start = replace(subject.nodes, nodes=tuple(map(_before_training, subject.nodes.nodes)))
    network, inputs = Network(start), subject.sample(n_samples, seed).inputs
    variances = _last_variances(network)
    rng, found = stream("random networks", seed), np.zeros((len(inputs), len(inputs)))
    for _ in range(n_draws):
        for place in network.weight_nodes:
            network.layer(place).set_weights(_drawn(network.nodes[place], rng))
        for variance, features in zip(variances, penultimate_branches(network, inputs), strict=True):
            found += variance * product(features, features.T).astype(np.float64)
    size = float(np.mean(np.diag(found)))
    if not 0 < size < math.inf:
        raise MeasureUnavailable("needs random networks whose outputs are finite and not all 0")
    return found / size


def _last_variances(network: Network) -> list[float]:
    """Variance of the last kernels for each of `penultimate_branches`, over that of the first one."""
    found: dict[int, float] = {}
    for node in (network.nodes[place] for place in last_weight_nodes(network)):
        last = len(node.weights) - (2 if node.config["use_bias"] else 1)
        variance = 2 / _fan_in(node, last, node.weights[last].shape)
        found[node.sources[0]] = found.get(node.sources[0], 0.0) + variance
    first, *_ = found.values()
    return [variance / first for variance in found.values()]


def _drawn(node: Node, rng: np.random.Generator) -> list[Array]:
    """Weights of a weight layer of a random network."""
    kernels, biases = (node.weights[:-1], node.weights[-1:]) if node.config["use_bias"] else (node.weights, ())
    drawn: list[Array] = []
    for number, kernel in enumerate(kernels):
        noise = rng.standard_normal(kernel.size, np.float32).reshape(kernel.shape)
        drawn.append(noise * np.float32(math.sqrt(2 / _fan_in(node, number, kernel.shape))))
    return [*drawn, *map(np.zeros_like, biases)]


def _fan_in(node: Node, number: int, shape: tuple[int, ...]) -> int:
    """Inputs of a unit of a layer's kernel of that number."""
    if node.kind.endswith("Transpose"):
        return math.prod(shape[:-2]) * shape[-1]
    is_depthwise = node.kind.startswith(("Depthwise", "Separable")) and number == 0
    return math.prod(shape[:-2] if is_depthwise else shape[:-1])


def _before_training(node: Node) -> Node:
    """A node with the scales and shifts that a new layer has, where it has some."""
    if node.kind not in NORMALIZATIONS | {"PReLU"}:
        return node
    values = [1.0] * node.config.get("scale", node.kind != "PReLU") + [0.0] * node.config.get("center", False)
    values += {"BatchNormalization": [0.0, 1.0], "PReLU": [0.0]}.get(node.kind, [])
    return replace(
        node, weights=tuple(np.full_like(array, value) for array, value in zip(node.weights, values, strict=False))
    )
