"""The path norm: the sum over all paths from inputs to logits of the product of squared weights along the path.

Constants are squared like weights, except in layers at the network's beginning, which belong to the input. Averages
over positions or branches are not squared.

Source: Jiang et al. 2019, arXiv 1912.02178, eq. 44. Weights: folded.
"""

import math
import sys
from dataclasses import replace

import numpy as np

from baselines.core.needs import MeasureUnavailable
from baselines.core.subject import Subject, shared
from baselines.network import Network, Node
from baselines.network.constants import as_constants, constants, weights_begin
from baselines.network.fold import affine
from baselines.network.nodes import ATTENTION, CONSTANT, OF_EXAMPLES
from baselines.norm.terms import Terms, norm_measure

#: Layers and activations that multiply outputs of other layers, or divide by sums of outputs.
_MULTIPLY = {ATTENTION, "AdditiveAttention", "Attention", "Dot", "Multiply", "Softmax"}
_DIVIDE = ("glu", "log_softmax", "softmax")

#: Interpolations with negative weights.
_SUBTRACT = ("bicubic", "lanczos3", "lanczos5")


@shared
def squared_path_norm(subject: Subject) -> float:
    """Return the sum of the logits for an input of ones, with all weights of the network squared.

    Batch normalization and constants are folded first. Then kernels and biases are squared, and also the signs, shifts
    and constants that folding leaves. The result is clipped to the range of positive float64 numbers.
    """
    folded = subject.folded.description
    begin = weights_begin(folded.nodes)
    nodes = tuple(_squared(node) if place > begin else node for place, node in enumerate(folded.nodes))
    network = Network(replace(folded, nodes=nodes), dtype="float64")
    (logits,) = network.run({begin: np.ones((1, *network.shape(begin)))}, [network.output])
    total = float(np.sum(logits.numpy()))
    if total < 0:
        raise MeasureUnavailable("needs activations that are positive where their inputs are")
    return float(np.clip(np.nan_to_num(total, nan=math.inf), sys.float_info.min, sys.float_info.max))


def _squared(node: Node) -> Node:
    if node.has_kernel:
        return replace(node, weights=tuple(np.square(array, dtype=np.float64) for array in node.weights))
    if node.kind == "BatchNormalization":
        scale, shift = affine(node)
        weights = (scale**2, shift**2, np.zeros_like(shift), np.full_like(scale, 1 - node.config["epsilon"]))
        return replace(node, config={**node.config, "scale": True, "center": True}, weights=weights)
    if node.kind in CONSTANT and (found := constants(node)) is not None:
        factor, shift = found
        return as_constants(node, factor**2, shift**2)
    if node.kind in CONSTANT or node.config.get("interpolation") in _SUBTRACT:
        raise MeasureUnavailable(f"needs paths of weights alone: layer {node.name} ({node.kind}) has signs of its own")
    if node.kind == "Subtract":
        return replace(node, kind="Add")
    if node.kind in OF_EXAMPLES | _MULTIPLY or node.config.get("activation") in _DIVIDE:
        raise MeasureUnavailable(f"needs paths of weights alone: layer {node.name} ({node.kind}) divides or multiplies")
    if node.weights:
        raise MeasureUnavailable(f"does not understand the weights of layer {node.name} ({node.kind})")
    return node


@norm_measure()
def path_norm(terms: Terms) -> float:
    """Sum over all paths from inputs to logits of the product of squared weights.

    Formula: sum_j f_{w^2}(1)_j, f_{w^2}(1) the logits for inputs 1 and squared weights. Range: (0, inf).

    Biases and constants are included, except in constant layers at the network's beginning. The value is meaningful for
    activations like ReLU.
    """
    return squared_path_norm(terms.subject)


@norm_measure()
def log_path_norm(terms: Terms) -> float:
    """Logarithm of the path norm.

    Formula: ln sum_j f_{w^2}(1)_j, f_{w^2}(1) the logits for inputs 1 and squared weights. Range: [-708.4, 709.8], the
    range of float64. Same order as: path_norm.
    """
    return math.log(squared_path_norm(terms.subject))
