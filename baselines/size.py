"""Measures that see only the architecture: all models of one architecture tie."""

import math

from baselines.measure import measure
from baselines.subject import Subject

_KIT = "PGDL starting kit (Jiang et al. 2020, arXiv 2012.07976)"


@measure(
    family="size",
    meaning="number of weights in kernels",
    formula="sum_i size(W_i)",
    source="Jiang et al. 2019, arXiv 1912.02178, eq. 20",
    cost="none",
)
def num_params(subject: Subject) -> float:
    """Number of weights in the kernels of all weight layers, biases left out. Range: [0, inf)."""
    return sum(kernel.array.size for kernel in subject.network.kernels)


@measure(
    family="size",
    meaning="bound on the VC dimension, from depth and number of weights",
    formula="d + 2 d ln(22 d n^2) sum_i size(W_i)",
    source=_KIT,
    cost="none",
)
def vc_dim(subject: Subject, *, image_side: int = 32) -> float:
    """Bound on the VC dimension, with d weight layers. Range: [0, inf).

    Args:
        subject: the network.
        image_side: n, height and width of the images in pixels. The starting kit of the competition, whose
            formula this is, takes 32 for every task.
    """
    kernels = subject.network.kernels
    depth = len(kernels)
    weights = sum(kernel.array.size for kernel in kernels)
    return depth + 2 * depth * math.log(22 * max(depth, 1) * image_side**2) * weights
