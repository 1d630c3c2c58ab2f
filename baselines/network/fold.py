"""Folds batch normalization into the weights beside it, where that leaves the network's function as it is."""

import warnings
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from baselines.network.nodes import Array, Node, Nodes

#: Weight layers whose outputs are scaled by scaling the last axis of their last kernel.
_BACKWARD = {"Dense", "Conv1D", "Conv2D", "Conv3D", "SeparableConv1D", "SeparableConv2D"}
_FORWARD = {"Dense", "Conv1D", "Conv2D", "Conv3D"}


def fold_batch_norm(network: Nodes) -> Nodes:
    """Return the network without batch normalization: logits are the same but for rounding.

    It goes backward into a weight layer right before it, or else forward into a dense layer or a 'valid'
    convolution right behind it. One that has neither stays, with a warning.
    """
    nodes = network.nodes
    for position, node in enumerate(nodes):
        if node.kind == "BatchNormalization":
            folded = _fold(nodes, position)
            if folded is None:
                warnings.warn(f"layer {node.name}: batch normalization cannot be folded and stays", stacklevel=2)
            else:
                nodes = folded
    return _without_idle(replace(network, nodes=nodes))


def _fold(nodes: tuple[Node, ...], position: int) -> tuple[Node, ...] | None:
    norm = nodes[position]
    before = norm.sources[0]
    if norm.config["axis"] != -1:
        return None
    if before >= 0 and nodes[before].kind in _BACKWARD and _consumers(nodes, before) == [position]:
        return _replaced(nodes, {before: _scaled_outputs(nodes[before], *affine(norm)), position: _idle(norm)})
    behind = _consumers(nodes, position)
    if len(behind) == 1 and _takes_affine(nodes[behind[0]]):
        return _replaced(nodes, {behind[0]: _scaled_inputs(nodes[behind[0]], *affine(norm)), position: _idle(norm)})
    return None


def _consumers(nodes: Sequence[Node], position: int) -> list[int]:
    return [number for number, node in enumerate(nodes) if position in node.sources]


def affine(norm: Node) -> tuple[Array, Array]:
    """Scale and shift (channels,) that a batch normalization applies, in float64."""
    arrays = [array.astype(np.float64) for array in norm.weights]
    scale = arrays.pop(0) if norm.config["scale"] else np.ones_like(arrays[-1])
    center = arrays.pop(0) if norm.config["center"] else np.zeros_like(arrays[-1])
    mean, variance = arrays
    factor = scale / np.sqrt(variance + norm.config["epsilon"])
    return factor, center - mean * factor


def _scaled_outputs(layer: Node, factor: Array, shift: Array) -> Node:
    *kernels, bias = _with_bias(layer)
    kernels[-1] = kernels[-1] * factor
    return _with_weights(layer, [*kernels, bias * factor + shift])


def _takes_affine(layer: Node) -> bool:
    """Whether every input of the layer's kernel is an input of the layer, none of them padding."""
    return layer.kind in _FORWARD and layer.config.get("padding", "valid") == "valid" and (
        layer.config.get("groups", 1) == 1
    )  # fmt: skip


def _scaled_inputs(layer: Node, factor: Array, shift: Array) -> Node:
    kernel, bias = _with_bias(layer)
    bias = bias + np.tensordot(kernel, shift, axes=([kernel.ndim - 2], [0])).reshape(-1, len(bias)).sum(axis=0)
    return _with_weights(layer, [kernel * factor[:, None], bias])


def _with_bias(layer: Node) -> list[Array]:
    arrays = [array.astype(np.float64) for array in layer.weights]
    return arrays if layer.config["use_bias"] else [*arrays, np.zeros(arrays[-1].shape[-1])]


def _with_weights(layer: Node, arrays: list[Array]) -> Node:
    config = {**layer.config, "use_bias": True}
    return replace(layer, config=config, weights=tuple(array.astype(np.float32) for array in arrays))


def _idle(norm: Node) -> Node:
    return replace(norm, kind="Identity", config={}, weights=())


def _replaced(nodes: tuple[Node, ...], new: dict[int, Node]) -> tuple[Node, ...]:
    return tuple(new.get(position, node) for position, node in enumerate(nodes))


def _without_idle(network: Nodes) -> Nodes:
    """Drop the nodes that were folded away; who took them in takes in what they took in."""
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
