"""Which layers are linear functions of their inputs, and which are piecewise linear."""

from baselines.network.network import Network
from baselines.network.nodes import Node

#: Layers that are linear, but for a constant, in inference mode; weight layers are, too.
_LINEAR = {
    "Add", "Average", "BatchNormalization", "Concatenate", "EinsumDense", "Identity", "Normalization", "RepeatVector",
    "Rescaling", "Resizing", "Subtract", "UpSampling1D", "UpSampling2D", "UpSampling3D",
}  # fmt: skip
_LINEAR_BEGINNINGS = ("AveragePooling", "Cropping", "Flatten", "GlobalAveragePooling", "Permute", "Reshape", "ZeroPadd")

#: Layers that are linear in each of the pieces that they divide their inputs into.
_BENT = {"LeakyReLU", "Maximum", "Minimum", "PReLU", "ReLU", "ThresholdedReLU"}
_BENT_BEGINNINGS = ("GlobalMaxPooling", "MaxPooling")
_BENT_ACTIVATIONS = (
    "hard_sigmoid", "hard_sigmoid_of_keras_2", "hard_sigmoid_of_keras_3", "hard_tanh", "leaky_relu", "relu", "relu6",
)  # fmt: skip


def is_linear(node: Node) -> bool:
    """Whether a node is linear in its inputs, but for a constant."""
    if node.kind == "Activation":
        return bool(node.config["activation"] == "linear")
    return node.has_kernel or node.kind in _LINEAR or node.kind.startswith(_LINEAR_BEGINNINGS)


def is_piecewise_linear(network: Network) -> bool:
    """Whether each logit is linear in each single weight, within a piece: its second derivative is 0 there.

    So it is where all nodes are linear in pieces, since no node appears twice; products of branches are not.
    """
    return all(is_linear(node) or is_bent(node) for node in network.nodes)


def is_bent(node: Node) -> bool:
    """Whether a node divides its inputs into pieces in each of which it is linear, but for a constant."""
    if node.kind == "Activation":
        return node.config["activation"] in _BENT_ACTIVATIONS
    return node.kind in _BENT or node.kind.startswith(_BENT_BEGINNINGS)
