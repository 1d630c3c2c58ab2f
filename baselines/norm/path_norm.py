"""The path norm: what squared weights along every path from inputs to logits multiply to, summed over paths.

Constants are squared as weights are. Those that the input alone goes through belong to the input. Averages, over places
or branches, are left as they are.

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

#: Layers that multiply what others put out, or divide by a sum of it, and activations that do.
_MULTIPLY = {ATTENTION, "AdditiveAttention", "Attention", "Dot", "Multiply", "Softmax"}
_DIVIDE = ("glu", "log_softmax", "softmax")

#: Ways to interpolate in which some neighbours are subtracted.
_SUBTRACT = ("bicubic", "lanczos3", "lanczos5")


@shared
def squared_path_norm(subject: Subject) -> float:
    """Sum of the logits that the network with squared weights gives to an input of ones, float64.

    Kernels and biases are squared after batch normalization and constants are folded, and so are signs, shifts and
    constants that are left. Positive: what is too small or too large for float64 comes out as the smallest or largest
    number there is.
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
    """Squared weights multiplied along paths, summed.

    Formula: sum_j f_{w^2}(1)_j. Range: (0, inf).

    Biases and constants are included. Meaningful for networks of ReLU and the like. Constants in front of all weights
    belong to the input.
    """
    return squared_path_norm(terms.subject)


@norm_measure()
def log_path_norm(terms: Terms) -> float:
    """Log of the path norm.

    Formula: ln sum_j f_{w^2}(1)_j. Range: [-708.4, 709.8], what float64 can hold. Order: path_norm.
    """
    return math.log(squared_path_norm(terms.subject))
