"""Finds the logits of a network: removes a final softmax, log-softmax or single sigmoid.

If the outputs are other probabilities, `no_logits` says why measures that need logits refuse the network.
"""

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from baselines.network.nodes import INPUT, Array, Node, Nodes

#: Layers that only reorder or reshape.
_ARRANGING = {"Flatten", "Permute", "Reshape"}

#: Activations whose outputs are probabilities or their logarithms.
_PROBABILITIES = {
    "hard_sigmoid", "hard_sigmoid_of_keras_2", "hard_sigmoid_of_keras_3", "log_sigmoid", "log_softmax", "sigmoid",
    "softmax", "sparse_sigmoid", "sparsemax",
}  # fmt: skip

#: Largest rounding error of a sum of probabilities, or of exponentials of log-probabilities, in half precision.
_ROUNDING = 2e-3


def without_probabilities(network: Nodes, shapes: Mapping[int, tuple[int | None, ...]], n_outputs: int) -> Nodes:
    """Return a network whose outputs are logits, without a final softmax; if this is impossible, set `no_logits`.

    `shapes` are the shapes of the layers' outputs, by position. `n_outputs` is the number of outputs.
    """
    position = len(network.nodes) - 1
    while position != INPUT and network.nodes[position].kind in _ARRANGING:
        (position,) = network.nodes[position].sources
    if position in shapes and position != INPUT and _is_of_all(network.nodes[position], shapes[position], n_outputs):
        return _without(network, position)  # nodes without a shape are inside a layer, before its activation
    if (node := _made_of_probabilities(network.nodes)) is None:
        return network
    function = node.config.get("activation")
    if callable(function):
        name = getattr(function, "__name__", type(function).__name__)
        reason = f"needs logits, but layer {node.name} ends in a function of your own ({name}), which may give others"
    else:
        reason = f"needs logits, which are lost in layer {node.name} ({_probabilities(node)})"
    return replace(network, no_logits=f"{reason}: end the network with logits, or a softmax over all classes")


def is_linear(network: Nodes) -> bool:
    """Whether only pooling and reshaping follow the last weight layer, so that the outputs are logits."""
    position = len(network.nodes) - 1
    while position != INPUT and _arranges_or_pools(network.nodes[position].kind):
        (position,) = network.nodes[position].sources
    node = network.nodes[position]
    return position != INPUT and (node.has_kernel or node.kind == "EinsumDense")


def looks_like(outputs: Array) -> str | None:
    """Return "probabilities" or "logarithms of probabilities" if outputs (n, classes) cannot be logits; else None."""
    if min(outputs.shape) < 2:
        return None
    exact = outputs.astype(np.float64)
    if (exact >= 0).all() and np.allclose(exact.sum(axis=1), 1, atol=_ROUNDING):
        return "probabilities"
    if (exact <= 0).all() and np.allclose(np.exp(exact).sum(axis=1), 1, atol=_ROUNDING):
        return "logarithms of probabilities"
    return None


def _is_of_all(node: Node, shape: tuple[int | None, ...], n_outputs: int) -> bool:
    """Whether a node computes a single distribution over all outputs, or the sigmoid of a single output."""
    what = _probabilities(node)
    if what == "sigmoid":
        return n_outputs == 1
    if what not in ("softmax", "log_softmax"):
        return False
    axes = node.config.get("axis", -1)
    axes = [axes] if isinstance(axes, int) else axes
    return bool(math.prod(shape[axis if axis < 0 else axis - 1] or 0 for axis in axes) == n_outputs)


def _probabilities(node: Node) -> str | None:
    name = "softmax" if node.kind == "Softmax" else node.config.get("activation")
    is_known = node.kind in ("Softmax", "Activation") and isinstance(name, str)
    return name if is_known and name in _PROBABILITIES else None


def _made_of_probabilities(nodes: tuple[Node, ...]) -> Node | None:
    """Return a node with probabilities if all outputs are computed from probabilities, otherwise None.

    Values behind a further weight layer are not computed from probabilities. Of a concatenation, a single part that is
    computed from probabilities is enough. A gate's probabilities do not count, since they only multiply other values.
    An activation that Keras does not know counts, since it may compute probabilities.
    """
    found: dict[int, Node | None] = {INPUT: None}
    for position, node in enumerate(nodes):
        parts = [found[source] for source in node.sources]
        together = any if node.kind == "Concatenate" else all
        if _probabilities(node) or (node.kind == "Activation" and callable(node.config["activation"])):
            found[position] = node
        elif (node.weights and not node.scales) or not together(parts):
            found[position] = None
        else:
            found[position] = next(part for part in parts if part is not None)
    return found[len(nodes) - 1]


def _arranges_or_pools(kind: str) -> bool:
    return kind in _ARRANGING or "Pooling" in kind


def _without(network: Nodes, position: int) -> Nodes:
    before = network.nodes[position].sources[0]

    def moved(number: int) -> int:
        return before if number == position else number - (number > position)

    nodes = tuple(
        replace(node, sources=tuple(map(moved, node.sources)))
        for number, node in enumerate(network.nodes) if number != position
    )  # fmt: skip
    layers = tuple((tuple(map(moved, sources)), moved(output)) for sources, output in network.layers)
    return replace(network, nodes=nodes, layers=layers)
