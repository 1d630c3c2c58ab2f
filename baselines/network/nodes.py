"""A Keras model as plain data: the kind, weights and inputs of each layer."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

#: Position of the network's input. Other positions are numbers of nodes, and mean the output of the node.
INPUT = -1

#: Weight layers: dense layers and convolutions.
WITH_KERNEL = {
    "Conv1D", "Conv1DTranspose", "Conv2D", "Conv2DTranspose", "Conv3D", "Conv3DTranspose", "Dense", "DepthwiseConv1D",
    "DepthwiseConv2D", "SeparableConv1D", "SeparableConv2D",
}  # fmt: skip

ACTIVATIONS = {"Activation", "ELU", "LeakyReLU", "PReLU", "ReLU", "Softmax", "ThresholdedReLU"}

#: Layers whose output does not depend on the scale of the input; for batch normalization this holds in training.
NORMALIZATIONS = {
    "BatchNormalization", "GroupNormalization", "LayerNormalization", "RMSNormalization", "UnitNormalization",
}  # fmt: skip

#: Normalizations by statistics of each example.
OF_EXAMPLES = NORMALIZATIONS - {"BatchNormalization"}

#: Layers that multiply by constants and add constants.
CONSTANT = {"Normalization", "Rescaling"}

#: Kind of the node between the dense layers of an attention. Keras has no such layer.
ATTENTION = "attention of heads"

#: Layers around another layer.
_WRAPPERS = {"TimeDistributed"}

#: Layers whose weights only scale and shift.
_SCALES = NORMALIZATIONS | {"Normalization", "PReLU"}


@dataclass(frozen=True)
class Node:
    """A layer of a network. Its activation is a separate node."""

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
        """Whether the node normalizes, or wraps a layer that normalizes."""
        wrapped = self.config["layer"]["class_name"] if self.kind in _WRAPPERS else self.kind
        return wrapped in NORMALIZATIONS or (self.kind == "Dot" and bool(self.config["normalize"]))

    @property
    def scales(self) -> bool:
        """Whether the weights of the node only scale and shift."""
        return self.kind in _SCALES

    @property
    def n_trained(self) -> int:
        """Number of trained arrays; they are the first of `weights`, before moving averages and constants."""
        if self.kind == "BatchNormalization":
            return int(self.config["scale"]) + int(self.config["center"])
        return 0 if self.kind == "Normalization" else len(self.weights)


@dataclass(frozen=True)
class Nodes:
    """A network as nodes in forward order. The last node computes the logits, unless `no_logits` is set."""

    input_shape: tuple[int, ...]  #: shape of an example
    nodes: tuple[Node, ...]
    layers: tuple[tuple[tuple[int, ...], int], ...]
    """For each layer of the model, in forward order and without those that are idle in inference mode, the positions of
    its inputs and of its output; after a rewriting that loses some of them, positions of what is left."""
    no_logits: str = ""  #: reason why the outputs are no logits; empty if they are logits
    is_folded: bool = False  #: whether parameters are kernels and biases only

    @property
    def is_normalized(self) -> bool:
        """Whether a node normalizes."""
        return any(node.normalizes for node in self.nodes)

    @property
    def normalizes_examples(self) -> bool:
        """Whether a node normalizes by statistics of each example."""
        return any(node.kind in OF_EXAMPLES for node in self.nodes)


def consumers(nodes: tuple[Node, ...], position: int) -> list[int]:
    """Return the positions of the nodes that read the output at `position`."""
    return [number for number, node in enumerate(nodes) if position in node.sources]
