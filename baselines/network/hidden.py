"""Where hidden layers end: behind a weight layer, its normalization, constants and activation, whatever these are."""

from baselines.core.needs import MeasureUnavailable
from baselines.network.linearity import is_linear
from baselines.network.network import Network
from baselines.network.nodes import ACTIVATIONS, CONSTANT, NORMALIZATIONS, Node

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
    """The node that takes in what is at `place`, if it is one."""
    consumers = [number for number, node in enumerate(network.nodes) if place in node.sources]
    return consumers[0] if len(consumers) == 1 else None


def _sees_all(network: Network, place: int) -> bool:
    """Whether everything behind a position is computed from it alone: no connection goes around it."""
    return not any(source < place < number for number, node in enumerate(network.nodes) for source in node.sources)


def _is_weight_layer(node: Node) -> bool:
    return node.has_kernel or (bool(node.weights) and not node.scales and node.kind != "Normalization")
