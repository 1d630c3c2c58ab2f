"""The dense layers and convolutions of a network as linear maps."""

import math
from dataclasses import dataclass, replace

import numpy as np

from baselines.core.sample import Array
from baselines.core.subject import Subject, shared
from baselines.network import Kernel, Network, Node


@dataclass(frozen=True)
class LinearMap:
    """A dense layer or a convolution without its bias."""

    node: Node  #: the layer
    kernel: Array  #: (groups, *window, inputs, outputs), float64; groups of channels do not mix
    sides: tuple[int, ...]  #: sides of the input feature map

    @property
    def window(self) -> tuple[int, ...]:
        """Sides of a convolution's window."""
        return tuple(self.kernel.shape[1:-2])

    @property
    def channels(self) -> int:
        """Number of output channels (units of a dense layer)."""
        return int(self.kernel.shape[0] * self.kernel.shape[-1])

    @property
    def is_pointwise(self) -> bool:
        """Whether the map acts on each position separately."""
        return math.prod(self.window) == 1

    @property
    def dilation(self) -> tuple[int, ...]:
        """Distance between neighbouring positions of the window, by axis."""
        return tuple(self.node.config["dilation_rate"])

    @property
    def strides(self) -> tuple[int, ...]:
        """Distance between neighbouring windows, by axis."""
        return tuple(self.node.config["strides"])

    @property
    def adjoint(self) -> "LinearMap":
        """The convolution whose adjoint is this transposed convolution; both have the same singular values."""
        sides = tuple(side * stride for side, stride in zip(self.sides, self.strides, strict=True))
        return replace(self, kernel=np.swapaxes(self.kernel, -1, -2), sides=sides)

    @property
    def matrices(self) -> Array:
        """The kernel as (groups, window times inputs, outputs); a column has the weights of an output channel."""
        groups, *_, outputs = self.kernel.shape
        return self.kernel.reshape(groups, -1, outputs)


@shared
def trained_maps(subject: Subject) -> list[LinearMap]:
    """Return the maps of all trained kernels in forward order, with batch normalization folded."""
    return _read(subject.folded)


@shared
def changed_maps(subject: Subject) -> list[LinearMap]:
    """Return the maps whose kernels are the changes by training, in forward order, with batch normalization folded."""
    pairs = zip(trained_maps(subject), _read(subject.folded_at_start), strict=True)
    return [replace(now, kernel=now.kernel - start.kernel) for now, start in pairs]


def _read(network: Network) -> list[LinearMap]:
    return [
        LinearMap(node, _in_groups(node, kernel), network.shape(node.sources[0])[:-1])
        for kernel in network.kernels
        for node in [network.nodes[kernel.node]]
    ]


def _in_groups(node: Node, kernel: Kernel) -> Array:
    array = kernel.array.astype(np.float64)
    if kernel.is_depthwise:  # each channel is a group
        return np.moveaxis(array, -2, 0)[..., None, :]
    groups = node.config.get("groups", 1)
    return np.moveaxis(array.reshape(*array.shape[:-1], groups, -1), -2, 0)
