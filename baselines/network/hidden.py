"""Positions of hidden representations: after a weight layer with its normalization, constants and activation."""

from baselines.core.needs import MeasureUnavailable
from baselines.network.network import Network
from baselines.network.nodes import ACTIVATIONS, CONSTANT, NORMALIZATIONS, Node

#: Layers that are affine in inference mode, in addition to weight layers.
_LINEAR = {
    "Add", "Average", "BatchNormalization", "Concatenate", "EinsumDense", "Identity", "Normalization", "RepeatVector",
    "Rescaling", "Resizing", "Subtract", "UpSampling1D", "UpSampling2D", "UpSampling3D",
}  # fmt: skip
_LINEAR_BEGINNINGS = ("AveragePooling", "Cropping", "Flatten", "GlobalAveragePooling", "Permute", "Reshape", "ZeroPadd")

#: Piecewise linear layers.
_BENT = {"LeakyReLU", "Maximum", "Minimum", "PReLU", "ReLU", "ThresholdedReLU"}
_BENT_BEGINNINGS = ("GlobalMaxPooling", "MaxPooling")
_BENT_ACTIVATIONS = (
    "hard_sigmoid", "hard_sigmoid_of_keras_2", "hard_sigmoid_of_keras_3", "hard_tanh", "leaky_relu", "relu", "relu6",
)  # fmt: skip


def is_linear(node: Node) -> bool:
    """Whether a node is an affine function of its inputs."""
    if node.kind == "Activation":
        return bool(node.config["activation"] == "linear")
    return node.has_kernel or node.kind in _LINEAR or node.kind.startswith(_LINEAR_BEGINNINGS)


def is_piecewise_linear(network: Network) -> bool:
    """Whether all nodes are piecewise linear, so that logits are piecewise linear in each single weight."""
    return all(is_linear(node) or is_bent(node) for node in network.nodes)


def is_bent(node: Node) -> bool:
    """Whether a node is a piecewise linear function of its inputs with several pieces, such as ReLU."""
    if node.kind == "Activation":
        return node.config["activation"] in _BENT_ACTIVATIONS
    return node.kind in _BENT or node.kind.startswith(_BENT_BEGINNINGS)


#: Nodes that scale the outputs of a weight layer.
_SCALES = CONSTANT | NORMALIZATIONS

#: Nodes that belong to the weight layer before them.
_BELONGING = ACTIVATIONS | _SCALES

#: Pooling and reshaping, which may be between a weight layer and its activation.
_POOLING = ("AveragePooling", "MaxPooling", "Cropping", "ZeroPadding", "Flatten", "Permute", "Reshape")


def hidden_positions(network: Network) -> list[int]:
    """Return the positions of hidden representations: for each weight layer but the last, its `end_of_layer`."""
    return [end_of_layer(network, place) for place in network.weight_nodes[:-1]]


def end_of_layer(network: Network, place: int) -> int:
    """Return the position after the normalization, constants and activation that follow the weight layer at `place`.

    Pooling before the activation belongs to the layer, too; pooling after the activation does not.
    """
    end, is_active = place, network.nodes[place].kind in ACTIVATIONS
    while (following := _only_consumer(network, place)) is not None:
        node = network.nodes[following]
        if node.kind in _BELONGING:
            end, is_active = following, is_active or node.kind in ACTIVATIONS
        elif is_active or not node.kind.startswith(_POOLING):
            break
        place = following
    return end


def first_hidden(network: Network) -> int:
    """Return the position of the first hidden layer that is not linear in the input: "layer 1" of mixup.

    The layer includes its normalization and activation. Mixing the outputs of linear layers (a convolution without
    activation, batch normalization, rescaling, average pooling, reshaping) would be the same as mixing inputs; max
    pooling and layer normalization are nonlinear. A position that a connection skips, as inside a residual block, is
    not chosen, since it alone does not determine the output. Raises `MeasureUnavailable` if there is no such layer
    before the last weight layer.
    """
    weights = [place for place, node in enumerate(network.nodes) if _is_weight_layer(node)]
    behind_weights, is_bent = set(weights), set[int]()
    for place, node in enumerate(network.nodes):
        if behind_weights.intersection(node.sources):
            behind_weights.add(place)
        if is_bent.intersection(node.sources) or (place in behind_weights and not is_linear(node)):
            is_bent.add(place)
    for place in sorted(is_bent):
        end = end_of_layer(network, place)
        if weights[-1] > end and _sees_all(network, end):
            return end
    raise MeasureUnavailable("needs a hidden layer that is not linear and that no connection skips, which is lacking")


def before_activation(network: Network, place: int) -> int:
    """Return the position before the activation of the layer that ends at `place`; without activation, `place`."""
    here = place
    while network.nodes[here].kind in _SCALES:
        here = network.nodes[here].sources[0]
    return network.nodes[here].sources[0] if network.nodes[here].kind in ACTIVATIONS else place


def _only_consumer(network: Network, place: int) -> int | None:
    consumers = [number for number, node in enumerate(network.nodes) if place in node.sources]
    return consumers[0] if len(consumers) == 1 else None


def _sees_all(network: Network, place: int) -> bool:
    return not any(source < place < number for number, node in enumerate(network.nodes) for source in node.sources)


def _is_weight_layer(node: Node) -> bool:
    return node.has_kernel or (bool(node.weights) and not node.scales and node.kind != "Normalization")
