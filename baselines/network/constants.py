"""Constant layers (`CONSTANT`): they multiply by constants and add constants, before or between other layers."""

import numpy as np

from baselines.core.lazy import tf
from baselines.network.nodes import CONSTANT, INPUT, Array, Node, consumers

#: Smallest deviation by which `Normalization` divides: Keras' default epsilon.
_EPSILON = 1e-7


def constants(node: Node) -> tuple[Array, Array] | None:
    """Return factor and shift, (channels,) or (1,), of a constant layer; None if they vary along other axes."""
    if node.kind == "Rescaling":
        pair = node.config["scale"], node.config["offset"]
    else:
        if tuple(np.atleast_1d(node.config["axis"])) not in ((), (-1,)):
            return None
        given = node.weights[:2] or (node.config["mean"], node.config["variance"])
        mean, deviation = np.asarray(given[0], float), np.maximum(np.sqrt(np.asarray(given[1], float)), _EPSILON)
        pair = (deviation, mean) if node.config["invert"] else (1 / deviation, -mean / deviation)
    factor, shift = (np.array(array) for array in np.broadcast_arrays(*(np.asarray(part, float) for part in pair)))
    if factor.size > 1 and (factor.size != factor.shape[-1] or tf.keras.backend.image_data_format() != "channels_last"):
        return None
    return factor.reshape(-1), shift.reshape(-1)


def as_constants(node: Node, factor: Array, shift: Array) -> Node:
    """Return a `Rescaling` with this factor and shift, to replace the constant layer `node`."""
    config = {"name": node.config["name"], "scale": factor.tolist(), "offset": shift.tolist()}
    return Node(node.name, "Rescaling", config, (), node.sources)


def weights_begin(nodes: tuple[Node, ...]) -> int:
    """Return the position after the constant layers with which a network begins; `INPUT` if there are none."""
    begin = place = INPUT
    while len(takers := consumers(nodes, place)) == 1:
        (place,) = takers
        node = nodes[place]
        if len(node.sources) > 1 or (node.weights and node.kind not in CONSTANT):
            break
        begin = place if node.kind in CONSTANT else begin
    return begin
