"""A Keras model as plain data: the kind, weights and inputs of each layer."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

#: Position of the network's input. Any other position is the number of a node, and means its output.
INPUT = -1

#: Weight layers: dense layers and convolutions.
WITH_KERNEL = {
    "Conv1D", "Conv1DTranspose", "Conv2D", "Conv2DTranspose", "Conv3D", "Conv3DTranspose", "Dense", "DepthwiseConv1D",
    "DepthwiseConv2D", "SeparableConv1D", "SeparableConv2D",
}  # fmt: skip

ACTIVATIONS = {"Activation", "ELU", "LeakyReLU", "PReLU", "ReLU", "Softmax", "ThresholdedReLU"}

#: Layers whose output does not depend on the scale of the input (batch normalization: in training).
NORMALIZATIONS = {
    "BatchNormalization", "GroupNormalization", "LayerNormalization", "RMSNormalization", "UnitNormalization",
}  # fmt: skip

#: Normalizations by statistics of each example.
OF_EXAMPLES = NORMALIZATIONS - {"BatchNormalization"}

#: Layers that multiply by constants and add constants.
CONSTANT = {"Normalization", "Rescaling"}

#: Kind of the node between the dense layers of an attention, which is no layer of Keras.
ATTENTION = "attention of heads"

#: Layers that contain another layer.
_WRAPPERS = {"TimeDistributed"}

#: Layers whose weights only scale and shift.
_SCALES = NORMALIZATIONS | {"Normalization", "PReLU"}


@dataclass(frozen=True)
class Node:
    """A layer of a network, without its activation, which is a separate node."""

    name: str
    kind: str  #: Keras' class
    config: dict[str, Any] = field(repr=False)
    weights: tuple[Array, ...] = field(repr=False)  #: in Keras' order
    sources: tuple[int, ...]  #: positions of its inputs
    keywords: tuple[str, ...] = ()  #: argument names of its last inputs
    switches: dict[str, bool] = field(default_factory=dict)  #: further arguments of the layer's call

    @property
    def has_kernel(self) -> bool:
        """Whether the node is a weight layer: dense, or any convolution."""
        return self.kind in WITH_KERNEL

    @property
    def normalizes(self) -> bool:
        """Whether the node, or a layer that it wraps, normalizes."""
        wrapped = self.config["layer"]["class_name"] if self.kind in _WRAPPERS else self.kind
        return wrapped in NORMALIZATIONS or (self.kind == "Dot" and bool(self.config["normalize"]))

    @property
    def scales(self) -> bool:
        """Whether the node's weights only scale and shift values."""
        return self.kind in _SCALES

    @property
    def n_trained(self) -> int:
        """Number of trained arrays. They come first in `weights`, before moving averages and constants."""
        if self.kind == "BatchNormalization":
            return int(self.config["scale"]) + int(self.config["center"])
        return 0 if self.kind == "Normalization" else len(self.weights)


@dataclass(frozen=True)
class Nodes:
    """A network as nodes in forward order. The last node computes the logits, unless `no_logits` says why not."""

    input_shape: tuple[int, ...]  #: shape of an example
    nodes: tuple[Node, ...]
    layers: tuple[tuple[tuple[int, ...], int], ...]
    """For each layer of the model, in forward order and without those that are idle in inference mode, the positions of
    its inputs and of its output; after a rewriting that loses some of them, positions of what is left."""
    no_logits: str = ""  #: why the outputs are not logits; empty if they are
    is_folded: bool = False  #: whether all parameters are kernels and biases

    @property
    def is_normalized(self) -> bool:
        """Whether any node normalizes."""
        return any(node.normalizes for node in self.nodes)

    @property
    def normalizes_examples(self) -> bool:
        """Whether any node normalizes by statistics of each example."""
        return any(node.kind in OF_EXAMPLES for node in self.nodes)


def consumers(nodes: tuple[Node, ...], position: int) -> list[int]:
    """Return the positions of the nodes that read the output at `position`."""
    return [number for number, node in enumerate(nodes) if position in node.sources]
