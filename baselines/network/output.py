"""What a network's outputs are: measures look at logits, so a softmax, log-softmax or single sigmoid at the end goes.

A network whose outputs are something else keeps its end, with the reason why it has no logits: what needs them refuses.
"""

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from baselines.network.nodes import INPUT, Array, Node, Nodes

#: Layers that only arrange numbers otherwise.
_ARRANGING = {"Flatten", "Permute", "Reshape"}

#: Activations that give probabilities or their logarithms.
_PROBABILITIES = {
    "hard_sigmoid", "log_sigmoid", "log_softmax", "sigmoid", "softmax", "sparse_sigmoid", "sparsemax",
}  # fmt: skip

#: Sums of probabilities, and of those with given logarithms, differ from 1 by no more, in half precision either.
_ROUNDING = 2e-3


def without_probabilities(network: Nodes, shapes: Mapping[int, tuple[int | None, ...]], n_outputs: int) -> Nodes:
    """Drop what makes probabilities of logits, behind which outputs are at most arranged otherwise.

    Args:
        network: it has one output, a vector.
        shapes: of what layers put out, by position.
        n_outputs: length of that vector.
    """
    position = len(network.nodes) - 1
    while position != INPUT and network.nodes[position].kind in _ARRANGING:
        (position,) = network.nodes[position].sources
    if position != INPUT and _is_of_all(network.nodes[position], shapes[position], n_outputs):
        return _without(network, position)
    for node in _behind_weights(network.nodes):
        if (what := _probabilities(node)) is not None:
            reason = f"needs logits, which are lost in layer {node.name} ({what})"
            return replace(network, no_logits=f"{reason}: end the network with logits, or a softmax over all classes")
    return network


def looks_like(outputs: Array) -> str | None:
    """What outputs (n, classes) are whose values are no logits'; None if they may be logits, as one example's may."""
    if min(outputs.shape) < 2:
        return None
    exact = outputs.astype(np.float64)
    if (exact >= 0).all() and np.allclose(exact.sum(axis=1), 1, atol=_ROUNDING):
        return "probabilities"
    if (exact <= 0).all() and np.allclose(np.exp(exact).sum(axis=1), 1, atol=_ROUNDING):
        return "logarithms of probabilities"
    return None


def _is_of_all(node: Node, shape: tuple[int | None, ...], n_outputs: int) -> bool:
    """Whether a node makes one distribution of all outputs, be it a sigmoid of one output."""
    what = _probabilities(node)
    if what == "sigmoid":
        return n_outputs == 1
    if what not in ("softmax", "log_softmax"):
        return False
    axes = node.config.get("axis", -1)
    axes = [axes] if isinstance(axes, int) else axes
    return bool(math.prod(shape[axis if axis < 0 else axis - 1] or 0 for axis in axes) == n_outputs)


def _probabilities(node: Node) -> str | None:
    """Name of the activation if a node gives probabilities or their logarithms."""
    name = "softmax" if node.kind == "Softmax" else node.config.get("activation")
    return name if node.kind in ("Softmax", "Activation") and name in _PROBABILITIES else None


def _behind_weights(nodes: tuple[Node, ...]) -> list[Node]:
    """The nodes from which the output is reached without passing a weight layer, the last first."""
    found, waiting = set[int](), [len(nodes) - 1]
    while waiting:
        position = waiting.pop()
        if position in found or position == INPUT:
            continue
        if not nodes[position].weights or nodes[position].scales:
            found.add(position)
            waiting += nodes[position].sources
    return [nodes[position] for position in sorted(found, reverse=True)]


def _without(network: Nodes, position: int) -> Nodes:
    """Drop a node with one input; who took in its output takes in that."""
    before = network.nodes[position].sources[0]

    def moved(number: int) -> int:
        return before if number == position else number - (number > position)

    nodes = tuple(
        replace(node, sources=tuple(map(moved, node.sources)))
        for number, node in enumerate(network.nodes) if number != position
    )  # fmt: skip
    layers = tuple((tuple(map(moved, sources)), moved(output)) for sources, output in network.layers)
    return replace(network, nodes=nodes, layers=layers)
