"""Sums of single examples' gradients as arrays of the kernels' own shapes."""

import math
from collections.abc import Iterator

import numpy as np

from baselines.network.network import Kernel, Network
from baselines.network.nodes import Array
from baselines.network.per_example import is_stacked


def by_channels(network: Network, kernel: Kernel) -> Array:
    """A kernel as (groups, window, inputs, outputs); a depthwise one as a single group with a single input."""
    array = kernel.array
    window = math.prod(array.shape[:-2])
    if kernel.is_depthwise:
        return array.reshape(1, window, 1, -1)
    return np.moveaxis(array.reshape(window, array.shape[-2], _groups(network, kernel), -1), 2, 0)


def moments_by_channels(network: Network, moments: Array) -> Iterator[Array]:
    """Entries for each kernel in the form of `by_channels`, from one of the sums (weights,) of `weight_moments`."""
    place, first = None, 0
    for kernel in network.kernels:
        if kernel.node != place:  # biases come first
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
