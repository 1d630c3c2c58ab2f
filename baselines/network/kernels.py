"""Changes the weights of a weight layer to scale or shift its outputs or inputs.

Factors and shifts are (channels,), or (1,) if they are the same for all channels.
"""

import math
from dataclasses import replace

import numpy as np

from baselines.network.nodes import Array, Node


def scale_outputs(layer: Node, factor: Array, shift: Array) -> Node:
    """Return a layer whose outputs are `factor` times the outputs of `layer`, plus `shift`."""
    *kernels, bias = _with_bias(layer)
    factor = np.broadcast_to(factor, bias.shape)
    kernels[-1] = kernels[-1] * _along_outputs(layer, kernels[-1], factor)
    return _with_weights(layer, [*kernels, bias * factor + shift])


def _along_outputs(layer: Node, kernel: Array, factor: Array) -> Array:
    if layer.kind.startswith("Depthwise"):
        return factor.reshape(kernel.shape[-2:])
    return factor[:, None] if layer.kind.endswith("Transpose") else factor


def scale_inputs(layer: Node, factor: Array) -> Node:
    """Return a layer that computes for inputs x what `layer` computes for `factor * x`.

    `factor` has an entry for each channel. If a feature map was flattened to x, `factor` is repeated at each position.
    """
    kernel, *others = _with_bias(layer)
    if layer.kind.endswith("Transpose"):
        kernel = kernel * factor
    elif "groups" in layer.config and not layer.kind.startswith(("Depthwise", "Separable")):
        groups = layer.config["groups"]
        apart = kernel.reshape(*kernel.shape[:-1], groups, -1)  # (..., inputs of a group, groups, outputs of a group)
        factor = np.broadcast_to(factor, groups * kernel.shape[-2])
        kernel = (apart * factor.reshape(groups, -1).T[:, :, None]).reshape(kernel.shape)
    else:
        kernel = kernel * np.tile(factor, kernel.shape[-2] // len(factor))[:, None]
    return _with_weights(layer, [kernel, *others])


def takes_shift(layer: Node) -> bool:
    """Whether a bias can replace a shift of the inputs, because the layer has no groups and no zero padding."""
    if layer.kind not in ("Conv1D", "Conv2D", "Conv3D", "Dense"):
        return False
    return bool(layer.config.get("padding", "valid") == "valid" and layer.config.get("groups", 1) == 1)


def shift_inputs(layer: Node, shift: Array) -> Node:
    """Return a layer that computes for inputs x what `layer` computes for x + `shift`; `takes_shift` must be true."""
    kernel, bias = _with_bias(layer)
    shift = np.broadcast_to(shift, kernel.shape[-2])
    moved = np.tensordot(kernel, shift, axes=([kernel.ndim - 2], [0])).reshape(-1, len(bias)).sum(axis=0)
    return _with_weights(layer, [kernel, bias + moved])


def _with_bias(layer: Node) -> list[Array]:
    arrays = [array.astype(np.float64) for array in layer.weights]
    return arrays if layer.config["use_bias"] else [*arrays, np.zeros(_n_outputs(layer, arrays[-1]))]


def _n_outputs(layer: Node, kernel: Array) -> int:
    if layer.kind.startswith("Depthwise"):
        return math.prod(kernel.shape[-2:])
    return int(kernel.shape[-2 if layer.kind.endswith("Transpose") else -1])


def _with_weights(layer: Node, arrays: list[Array]) -> Node:
    config = {**layer.config, "use_bias": True}
    return replace(layer, config=config, weights=tuple(array.astype(np.float32) for array in arrays))
