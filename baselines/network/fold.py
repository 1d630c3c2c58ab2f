"""Folds batch normalization and constants into kernels.

Without folding, weights before a batch normalization could have any scale, since the normalization cancels it. Directly
after a weight layer, the scale and the shift of a batch normalization move into the layer. After pooling or an
activation such as ReLU, only the magnitude of the scale moves back into the weight layer. Otherwise, such as after a
sum of branches, the magnitude moves forward into the weight layers that read the sum. A sign and a shift may remain.

Constant factors of layers (`Rescaling`, `Normalization`) move likewise, and also through sums. A constant layer before
all weights belongs to the input and stays. A constant that cannot move into a weight layer stays, too.

A normalization by statistics of each example stays, but its own scale moves forward if only weight layers read its
output. `free_scales` sets the scales before such a normalization.
"""

from dataclasses import replace

import numpy as np

from baselines.core.needs import MeasureUnavailable
from baselines.network.constants import as_constants, constants, weights_begin
from baselines.network.kernels import scale_inputs, scale_outputs, shift_inputs, takes_shift
from baselines.network.nodes import CONSTANT, INPUT, OF_EXAMPLES, Array, Node, Nodes, consumers

#: Layers that keep channels separate; positive factors of channels can move through them.
_HOMOGENEOUS = {
    "AveragePooling1D", "AveragePooling2D", "AveragePooling3D", "Cropping1D", "Cropping2D", "Cropping3D",
    "GlobalAveragePooling1D", "GlobalAveragePooling2D", "GlobalAveragePooling3D", "GlobalMaxPooling1D",
    "GlobalMaxPooling2D", "GlobalMaxPooling3D", "Identity", "LeakyReLU", "MaxPooling1D", "MaxPooling2D",
    "MaxPooling3D", "PReLU", "UpSampling1D", "UpSampling2D", "UpSampling3D", "ZeroPadding1D", "ZeroPadding2D",
    "ZeroPadding3D",
}  # fmt: skip

#: Layers whose output is multiplied by a factor if all their inputs are.
JOINING = {"Add", "Average", "Maximum", "Minimum", "Subtract"}

#: Layers through which a factor can move if it is the same for all channels.
REARRANGING = {"Concatenate", "Flatten", "Permute", "RepeatVector", "Reshape"}

_Network = tuple[Node, ...]


def fold_scales(network: Nodes) -> Nodes:
    """Return the network with batch normalization and constants folded into kernels; if it has neither, `network`.

    Logits stay the same up to rounding. Raises `MeasureUnavailable` if a normalization cannot be folded.
    """
    nodes, begin = network.nodes, weights_begin(network.nodes)
    inside = [place for place, node in enumerate(nodes) if node.kind in CONSTANT and place > begin]
    if not inside and not any(node.normalizes or node.scales for node in nodes):
        return network
    for position in inside:
        nodes = _fold(nodes, position) or nodes
    for position, node in enumerate(nodes):
        if node.kind == "BatchNormalization":
            folded = _fold(nodes, position)
            if folded is None:
                raise not_understood(node)
            nodes = folded
    network = _without_idle(replace(network, nodes=nodes))
    nodes = network.nodes
    for position, node in enumerate(nodes):
        if node.normalizes and node.kind != "BatchNormalization":
            if node.kind not in OF_EXAMPLES or not _normalizes_channels(node):
                raise not_understood(node)
            nodes = _fold_scale(nodes, position)
    return replace(network, nodes=nodes, is_folded=True)


def _normalizes_channels(norm: Node) -> bool:
    """Whether a layer normalizes over channels or groups of channels, without Keras' option `rms_scaling`."""
    axes = norm.config["axis"]
    return not norm.config.get("rms_scaling") and (axes == -1 or (isinstance(axes, list) and -1 in axes))


def not_understood(norm: Node, where: str = "") -> MeasureUnavailable:
    """Return the error for a normalization that cannot be folded; `where` may add a phrase with a layer before it."""
    return MeasureUnavailable(
        f"layer {norm.name} ({norm.kind}) cannot be folded into weights, and those before it{where} could be of any "
        "scale"
    )


def _fold(nodes: _Network, position: int) -> _Network | None:
    """Move the batch normalization or constants at `position` into weight layers; return None if that is impossible."""
    scale = nodes[position]
    found = _affine(scale)
    if found is None:
        return None
    factor, shift = found
    before = _right_before(nodes, position)
    if before is not None and _takes(nodes[before], scale):
        return _replaced(nodes, {before: _scale_outputs(nodes[before], factor, shift), position: _idle(scale)})
    makers = _makers(nodes, scale.sources[0], scale)
    if makers:
        size, nothing = np.abs(factor), np.zeros_like(shift)
        nodes = _replaced(nodes, {place: _scale_outputs(nodes[place], size, nothing) for place in makers})
        return _with_shift(nodes, position, np.where(factor < 0, -1.0, 1.0), shift)
    behind = _fed(nodes, position, scale)
    if not behind:
        return None
    size = np.where(factor == 0, 1.0, np.abs(factor))
    scaled = {place: _scale_inputs(nodes[place], size) for place in behind}
    return _with_shift(_replaced(nodes, scaled), position, np.sign(factor), shift / size)


def _affine(scale: Node) -> tuple[Array, Array] | None:
    if scale.kind in CONSTANT:
        return constants(scale)
    return affine(scale) if scale.config["axis"] == -1 else None


def _takes(node: Node, scale: Node) -> bool:
    """Whether `scale` can be folded into `node`: weight layers take any, batch normalizations take only constants."""
    is_norm = node.kind == "BatchNormalization" and node.config["axis"] == -1
    return node.has_kernel or (is_norm and scale.kind in CONSTANT)


def _scale_outputs(node: Node, factor: Array, shift: Array) -> Node:
    if node.has_kernel:
        return scale_outputs(node, factor, shift)
    own, center = affine(node)
    return as_affine(node, own * factor, center * factor + shift)


def _scale_inputs(node: Node, factor: Array) -> Node:
    if node.has_kernel:
        return scale_inputs(node, factor)
    own, center = affine(node)
    return as_affine(node, own * np.tile(factor, own.size // factor.size), center)  # repeated for flattened channels


def _fold_scale(nodes: _Network, position: int) -> _Network:
    """Move the scale of a per-example normalization into the weight layers after it; if possible, also its shift."""
    norm = nodes[position]
    scale, center = own_affine(norm)
    behind = _fed(nodes, position, norm) if scale is not None and scale.ndim == 1 else []
    if scale is None or not behind:
        return nodes
    shift = np.zeros_like(scale) if center is None else center
    size = np.where(scale == 0, 1.0, np.abs(scale))
    nodes = _replaced(nodes, {place: scale_inputs(nodes[place], size) for place in behind})
    sign, shift = np.sign(scale), shift / size
    takers = consumers(nodes, position)
    if all(takes_shift(nodes[place]) for place in takers):
        layers = {place: scale_inputs(shift_inputs(nodes[place], shift), sign) for place in takers}
        sign, shift = np.ones_like(sign), np.zeros_like(shift)
        nodes = _replaced(nodes, layers)
    arrays = tuple(array.astype(np.float32) for array in (sign, shift))
    if norm.kind == "RMSNormalization":  # no shift
        return _replaced(nodes, {position: replace(norm, weights=arrays[:1])})
    config = {**norm.config, "scale": True, "center": True}
    return _replaced(nodes, {position: replace(norm, config=config, weights=arrays)})


def own_affine(norm: Node) -> tuple[Array | None, Array | None]:
    """Return scale and shift, float64, of a per-example normalization (`OF_EXAMPLES`); None for an absent array."""
    arrays = [array.astype(np.float64) for array in norm.weights]
    scale = arrays.pop(0) if norm.config.get("scale", bool(arrays)) else None
    return scale, arrays.pop(0) if arrays else None


def _right_before(nodes: _Network, position: int) -> int | None:
    (place,) = nodes[position].sources
    while place != INPUT and consumers(nodes, place) == [position]:
        if nodes[place].kind != "Identity":
            return place
        position, (place,) = place, nodes[place].sources
    return None


def _makers(nodes: _Network, place: int, scale: Node) -> list[int]:
    """Return the weight layers that compute the output at `place`; empty if `scale` cannot move into all of them."""
    if place == INPUT or len(consumers(nodes, place)) != 1:
        return []
    if _takes(nodes[place], scale):
        return [place]
    is_sum = scale.kind in CONSTANT and nodes[place].kind in JOINING
    if not is_sum and not _commutes(nodes[place], scale):
        return []
    found = [_makers(nodes, source, scale) for source in dict.fromkeys(nodes[place].sources)]
    return [maker for makers in found for maker in makers] if all(found) else []


def _commutes(node: Node, scale: Node) -> bool:
    if is_homogeneous(node):
        return True
    found = constants(scale) if scale.kind in CONSTANT else None
    return found is not None and found[0].size == 1 and (node.kind in REARRANGING or _is_homogeneous_in_all(node))


def _fed(nodes: _Network, position: int, scale: Node) -> list[int]:
    """Return the weight layers that read the output at `position`; empty if `scale` cannot move into all of them."""
    found: list[int] = []
    for place in consumers(nodes, position):
        node = nodes[place]
        if _takes(node, scale):
            found.append(place)
            continue
        passes = len(node.sources) == 1 and (_commutes(node, scale) or _keeps_channels_last(node))
        behind = _fed(nodes, place, scale) if passes else []
        if not behind:
            return []
        found += behind
    return found


def _with_shift(nodes: _Network, position: int, factor: Array, shift: Array) -> _Network:
    """Move `factor` and `shift` into the weight layer after the node at `position` or, if impossible, into the node."""
    behind = consumers(nodes, position)
    if len(behind) == 1 and takes_shift(nodes[behind[0]]):
        layer = scale_inputs(shift_inputs(nodes[behind[0]], shift), factor)
        return _replaced(nodes, {behind[0]: layer, position: _idle(nodes[position])})
    if nodes[position].kind == "BatchNormalization":
        return _replaced(nodes, {position: as_affine(nodes[position], factor, shift)})
    is_idle = (factor == 1).all() and not shift.any()
    left = _idle(nodes[position]) if is_idle else as_constants(nodes[position], factor, shift)
    return _replaced(nodes, {position: left})


def is_homogeneous(node: Node) -> bool:
    """Whether a node keeps channels separate, and positive factors of channels can move through it."""
    return node.config.get("data_format") != "channels_first" and _is_homogeneous_in_all(node)


def _is_homogeneous_in_all(node: Node) -> bool:
    if node.kind == "Activation":
        return node.config["activation"] in ("relu", "leaky_relu", "linear")
    if node.kind == "ReLU":
        return node.config.get("max_value") is None and not node.config.get("threshold")
    return node.kind in _HOMOGENEOUS


def _keeps_channels_last(node: Node) -> bool:
    return node.kind == "Flatten" and node.config.get("data_format") != "channels_first"


def affine(norm: Node) -> tuple[Array, Array]:
    """Return the factor and shift (channels,), float64, that a batch normalization applies in inference mode."""
    arrays = [array.astype(np.float64) for array in norm.weights]
    scale = arrays.pop(0) if norm.config["scale"] else np.ones_like(arrays[-1])
    center = arrays.pop(0) if norm.config["center"] else np.zeros_like(arrays[-1])
    mean, variance = arrays
    factor = scale / np.sqrt(variance + norm.config["epsilon"])
    return factor, center - mean * factor


def as_affine(norm: Node, factor: Array, shift: Array) -> Node:
    """Return a batch normalization that applies `factor` and `shift`, each (channels,), in inference mode."""
    variance = np.full_like(factor, 1 - norm.config["epsilon"])
    weights = tuple(array.astype(np.float32) for array in (factor, shift, np.zeros_like(shift), variance))
    return replace(norm, config={**norm.config, "scale": True, "center": True}, weights=weights)


def _idle(norm: Node) -> Node:
    return replace(norm, kind="Identity", config={}, weights=())


def _replaced(nodes: _Network, new: dict[int, Node]) -> _Network:
    return tuple(new.get(position, node) for position, node in enumerate(nodes))


def _without_idle(network: Nodes) -> Nodes:
    position = {-1: -1}
    left: list[Node] = []
    for number, node in enumerate(network.nodes):
        sources = tuple(position[source] for source in node.sources)
        if node.kind == "Identity":
            position[number] = sources[0]
        else:
            position[number] = len(left)
            left.append(replace(node, sources=sources))
    layers = tuple((tuple(position[s] for s in sources), position[output]) for sources, output in network.layers)
    return replace(network, nodes=tuple(left), layers=layers)
