"""The path norm: the sum over all paths of the products of squared weights."""

import math
from dataclasses import replace

import numpy as np

from baselines.measure import measure
from baselines.network import Network
from baselines.subject import Subject, shared

_JIANG = "Jiang et al. 2019, arXiv 1912.02178, eq. 44"


@shared
def squared_path_norm(subject: Subject) -> float:
    """Sum of the logits of the network with squared kernels and biases at an input of ones, in float64."""
    description = subject.folded.description
    nodes = tuple(
        replace(node, weights=tuple(np.square(array, dtype=np.float64) for array in node.weights))
        if node.has_kernel
        else node
        for node in description.nodes
    )
    network = Network(replace(description, nodes=nodes), dtype="float64")
    return float(network.logits(np.ones((1, *description.input_shape))).numpy().sum())


@measure(
    family="norm",
    meaning="sum over paths of squared weights",
    formula="sum f_{w^2}(1)",
    source=_JIANG,
    cost="1 example",
)
def path_norm(subject: Subject) -> float:
    """The path norm, squared. Range: [0, inf). Meaningful for networks of ReLU-like activations."""
    return squared_path_norm(subject)


@measure(
    family="norm", meaning="logarithm of the path norm", formula="ln sum f_{w^2}(1)", source=_JIANG, cost="1 example"
)
def log_path_norm(subject: Subject) -> float:
    """Logarithm of `path_norm`, with at least 1e-300 inside."""
    return math.log(max(squared_path_norm(subject), 1e-300))
