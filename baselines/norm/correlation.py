"""Eigenvalues of the layers' correlation matrices X = W'W, as WeightWatcher, Martin and Mahoney's program, has them.

A convolution with a window of k pixels is k matrices (inputs, outputs), one for each place of the window, whose
eigenvalues are put together, times k / 2. Depthwise kernels mix no channels and do not count.
"""

import math

import numpy as np

from baselines.core.sample import Array
from baselines.core.subject import Subject, shared
from baselines.norm.fourier_norm import gram
from baselines.norm.linear_map import LinearMap, trained_maps
from baselines.norm.spectral import singular_values

#: Eigenvalues below this part of a layer's largest are 0: the resolution of float32, squared.
RESOLUTION = 1e-14


def positive(eigenvalues: Array) -> Array:
    """Eigenvalues of one layer without those that are 0."""
    found: Array = eigenvalues[eigenvalues > RESOLUTION * eigenvalues.max(initial=0.0)]
    return found


@shared
def eigenvalues(subject: Subject) -> list[Array]:
    """Eigenvalues of each layer's correlation matrices at all places of its window, ascending; none if depthwise."""
    pairs = zip(trained_maps(subject), singular_values(subject), strict=True)
    return [
        np.sort(_scale(layer) * singular**2) if layer.is_pointwise and not _is_depthwise(layer) else of_places(layer)
        for layer, singular in pairs
    ]


def of_places(layer: LinearMap) -> Array:
    """The same of any layer, from its kernel; singular values have them already where the window is one place."""
    if _is_depthwise(layer):
        return np.zeros(0)
    *_, inputs, outputs = layer.kernel.shape
    squares = np.linalg.eigvalsh(gram(layer.kernel.reshape(-1, inputs, outputs)))
    found: Array = _scale(layer) * np.sort(np.maximum(squares, 0.0), axis=None)
    return found


def _is_depthwise(layer: LinearMap) -> bool:
    """Whether a layer mixes no channels."""
    groups, *_, inputs, _ = layer.kernel.shape
    return bool(groups > 1 and inputs == 1)


def _scale(layer: LinearMap) -> float:
    """The factor k / 2 of a window of k places."""
    return math.prod(layer.window) / 2 if "Conv" in layer.node.kind else 1.0
