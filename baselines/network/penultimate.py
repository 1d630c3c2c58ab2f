"""The penultimate representation: the inputs of the last weight layers, pooled if the network pools the outputs."""

import math
from typing import Any

import numpy as np

from baselines.core.lazy import tf
from baselines.core.needs import MeasureUnavailable
from baselines.core.sample import Array
from baselines.network.network import Network, joined
from baselines.network.nodes import INPUT


def penultimate_features(network: Network, inputs: Array) -> Array:
    """Return penultimate representations (n, features), float32, of inputs (n, ...).

    A representation is the input of the last weight layer. If the network pools this layer's output to a single
    position, the input is pooled in place of the output; for average pooling, this gives the same logits. Otherwise,
    the input is flattened. If the logits are a sum of branches, the representations of all branches are concatenated.
    Raises the errors of `last_weight_nodes`.
    """
    return np.concatenate(penultimate_branches(network, inputs), axis=1)


def penultimate_branches(network: Network, inputs: Array) -> list[Array]:
    """Return a penultimate representation (n, features) for each different input of the last weight layers."""
    pools = {network.nodes[place].sources[0]: _pool(network, place) for place in last_weight_nodes(network)}

    def run(images: Any) -> list[Any]:
        found = network.run({INPUT: images}, list(pools))
        return [pool(features) for pool, features in zip(pools.values(), found, strict=True)]

    return joined(network.in_batches("penultimate features", run, [inputs]))


def last_weight_nodes(network: Network) -> list[int]:
    """Return the positions of the last weight layers: no other weight layer comes after them.

    Raises `MeasureUnavailable` if there are none, or if one is neither a dense layer nor a convolution.
    """
    weights = {place for place, node in enumerate(network.nodes) if node.weights and not node.scales}
    found = [place for place in _before(network, len(network.nodes) - 1, weights) if place in weights]
    if not found:
        raise MeasureUnavailable("needs a dense layer or a convolution, which this network lacks")
    for node in (network.nodes[place] for place in found):
        if not node.has_kernel:
            raise MeasureUnavailable(f"does not understand the weights of layer {node.name} ({node.kind})")
    return sorted(p for p in found if not any(p in _before(network, other, set()) for other in found if other != p))


def _before(network: Network, place: int, stops: set[int]) -> set[int]:
    """Return `place` and the positions on which its output depends; the search ends at the positions in `stops`."""
    found, waiting = set[int](), [place]
    while waiting:
        position = waiting.pop()
        if position not in found and position != INPUT:
            found.add(position)
            waiting += () if position in stops else network.nodes[position].sources
    return found


def _pool(network: Network, place: int) -> Any:
    """Return a function that converts inputs of the last weight layer, at `place`, to the shape (n, features).

    If a global pooling follows the layer, the function pools likewise; otherwise it flattens the inputs.
    """
    shape = network.shape(network.nodes[place].sources[0])
    behind = _before(network, len(network.nodes) - 1, {place})
    pooling = [p for p in behind if "Pooling" in network.nodes[p].kind and math.prod(network.shape(p)[:-1]) == 1]
    pooling = [p for p in pooling if place in _before(network, p, set())]
    if len(shape) < 2 or not pooling:
        return lambda features: tf.reshape(features, (-1, math.prod(shape)))
    reduce = tf.reduce_max if "MaxPooling" in network.nodes[pooling[0]].kind else tf.reduce_mean
    return lambda features: reduce(features, axis=list(range(1, len(shape))))
