"""Sums of single examples' gradients as arrays of the kernels' own shapes."""

import math
from collections.abc import Iterator

import numpy as np

from baselines.network.network import Kernel, Network
from baselines.network.nodes import Array
from baselines.network.per_example import is_stacked


def by_channels(kernel: Kernel) -> Array:
    """A kernel as (window, inputs, outputs); a depthwise one, each of whose outputs has one input, with one input."""
    array = kernel.array
    window = math.prod(array.shape[:-2])
    return array.reshape(window, 1, -1) if kernel.is_depthwise else array.reshape(window, *array.shape[-2:])


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
    window, inputs, outputs = by_channels(kernel).shape
    if kernel.is_depthwise:
        return entries.reshape(window, inputs, outputs)
    if is_stacked(kernel.array.shape, network.shape(kernel.node)):
        return np.moveaxis(entries.reshape(outputs, window, inputs), 0, -1)
    return np.swapaxes(entries.reshape(window, outputs, inputs), 1, 2)
