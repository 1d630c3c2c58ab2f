"""Measures that see only the architecture: all models of one architecture tie."""

import math
from typing import Any

from baselines.network import kernel_shapes


def num_params(model: Any, _dataset: Any) -> float:
    """Number of weights in the kernels of all weight layers, biases left out. Range: [0, inf).

    Jiang et al. 2019 (arXiv 1912.02178), eq. 20.
    """
    return float(sum(math.prod(shape) for shape in kernel_shapes(model)))


def vc_dim(model: Any, dataset: Any, *, image_side: int = 32) -> float:
    """Bound on the VC dimension, d + 2 d ln(22 d n^2) q, with d weight layers and q weights. Range: [0, inf).

    Args:
        model: the trained network.
        dataset: not looked at.
        image_side: n, height and width of the images in pixels. The starting kit of the competition, whose
            formula this is, takes 32 for every task.
    """
    depth = len(kernel_shapes(model))
    return depth + 2 * depth * math.log(22 * max(depth, 1) * image_side**2) * num_params(model, dataset)
