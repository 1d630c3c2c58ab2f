"""The path norm: what the squared weights along every path from inputs to logits multiply to, summed over paths."""

import math
import sys
from dataclasses import replace

import numpy as np

from baselines.core.subject import Subject, shared
from baselines.core.unavailable import MeasureUnavailable
from baselines.network import Network, Node
from baselines.network.fold import affine
from baselines.network.nodes import ATTENTION, OF_EXAMPLES
from baselines.norm.magnitude import JIANG
from baselines.norm.terms import Terms, norm_measure

#: Layers that multiply what others put out, or divide by a sum of it, and activations that do.
_MULTIPLY = {ATTENTION, "AdditiveAttention", "Attention", "Dot", "Multiply", "Softmax"}
_DIVIDE = ("glu", "log_softmax", "softmax")


@shared
def squared_path_norm(subject: Subject) -> float:
    """Sum of the logits that the network with squared weights gives to an input of ones, float64.

    Kernels and biases are squared after batch normalization is folded, and so are signs and shifts that are left of
    it. Average pooling is left as it is. Positive: what is too small or too
    large for float64 comes out as the smallest or largest number there is.
    """
    folded = subject.folded.description
    network = Network(replace(folded, nodes=tuple(map(_squared, folded.nodes))), dtype="float64")
    total = float(np.sum(network.logits(np.ones((1, *folded.input_shape))).numpy()))
    return float(np.clip(np.nan_to_num(total, nan=math.inf), sys.float_info.min, sys.float_info.max))


def _squared(node: Node) -> Node:
    if node.has_kernel:
        return replace(node, weights=tuple(np.square(array, dtype=np.float64) for array in node.weights))
    if node.kind == "BatchNormalization":
        scale, shift = affine(node)
        weights = (scale**2, shift**2, np.zeros_like(shift), np.full_like(scale, 1 - node.config["epsilon"]))
        return replace(node, config={**node.config, "scale": True, "center": True}, weights=weights)
    if node.kind in OF_EXAMPLES | _MULTIPLY or node.config.get("activation") in _DIVIDE:
        raise MeasureUnavailable(f"needs paths of weights alone: layer {node.name} ({node.kind}) divides or multiplies")
    if node.weights:
        raise MeasureUnavailable(f"does not understand the weights of layer {node.name} ({node.kind})")
    return node


@norm_measure(
    meaning="squared weights multiplied along paths, summed", formula="sum_j f_{w^2}(1)_j", source=JIANG + "44"
)
def path_norm(terms: Terms) -> float:
    """Sum over all paths of the product of squared weights, biases included. Range: (0, inf).

    Meaningful for networks of ReLU and the like.
    """
    return squared_path_norm(terms.subject)


@norm_measure(meaning="log of the path norm", formula="ln sum_j f_{w^2}(1)_j", source=JIANG + "44")
def log_path_norm(terms: Terms) -> float:
    """Logarithm of `path_norm`. Range: [-708.4, 709.8], what float64 can hold."""
    return math.log(squared_path_norm(terms.subject))
