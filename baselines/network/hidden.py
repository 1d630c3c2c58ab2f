"""Where hidden layers end: behind a weight layer, its normalization, constants and activation, whatever these are.

A linear layer ends none. Some layers are linear in pieces.
"""

from baselines.core.needs import MeasureUnavailable
from baselines.network.network import Network
from baselines.network.nodes import ACTIVATIONS, CONSTANT, NORMALIZATIONS, Node

#: Layers that are linear, but for a constant, in inference mode; weight layers are, too.
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


#: What scales what a weight layer puts out.
_SCALES = CONSTANT | NORMALIZATIONS

#: What belongs to the weight layer before it.
_BELONGING = ACTIVATIONS | _SCALES

#: Pooling and reshaping, which may come between a weight layer and its activation.
_POOLING = ("AveragePooling", "MaxPooling", "Cropping", "ZeroPadding", "Flatten", "Permute", "Reshape")


def hidden_positions(network: Network) -> list[int]:
    """Where hidden representations are: behind each weight layer but the last, its normalization and activation.

    A constant that the layer is multiplied by counts as normalization does.

    Pooling between a weight layer and its activation belongs to the layer; pooling behind the activation does not.
    """
    return [end_of_layer(network, place) for place in network.weight_nodes[:-1]]


def end_of_layer(network: Network, place: int) -> int:
    """The last of the nodes that follow one after the other and belong to the weight layer at `place`."""
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
    """Where the first hidden layer ends that is more than a linear map of the input: "layer 1" of mixtures.

    It is the first position behind a weight layer and, behind that or in it, a non-linear one; normalization and
    activation that follow are included. Behind linear layers alone (a convolution without
    activation, batch normalization, rescaling, average pooling, reshaping) a mixture is one of inputs. Maximum
    pooling and layer normalization are non-linear. A position that a connection skips, such as those inside of a
    residual block, is passed over, since no mixture there would be all that the network sees: where blocks begin with
    their activation, the first block's sum is taken.

    Raises:
        MeasureUnavailable: there is none before the last weight layer.
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
    """Where the activation of the layer that ends at `place` takes in its input; `place` itself if there is none."""
    here = place
    while network.nodes[here].kind in _SCALES:
        here = network.nodes[here].sources[0]
    return network.nodes[here].sources[0] if network.nodes[here].kind in ACTIVATIONS else place


def _only_consumer(network: Network, place: int) -> int | None:
    """The only node that reads the output at `place`; None if several nodes read it, or no node does."""
    consumers = [number for number, node in enumerate(network.nodes) if place in node.sources]
    return consumers[0] if len(consumers) == 1 else None


def _sees_all(network: Network, place: int) -> bool:
    """Whether everything behind a position is computed from it alone: no connection goes around it."""
    return not any(source < place < number for number, node in enumerate(network.nodes) for source in node.sources)


def _is_weight_layer(node: Node) -> bool:
    return node.has_kernel or (bool(node.weights) and not node.scales and node.kind != "Normalization")
