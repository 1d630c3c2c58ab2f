"""Spectral norm of a convolution whose borders are periodic, by the Fourier transform of its kernel.

Source: Sedghi, Gupta and Long 2018, arXiv 1805.10408.
"""

import math
from collections.abc import Sequence

import numpy as np

from baselines.core.sample import Array
from baselines.norm.linear_map import LinearMap

#: Bytes of the transformed kernel that are looked at together.
BYTES = 2**26


def fourier_norm(layer: LinearMap, sides: Sequence[int], strides: Sequence[int]) -> float:
    """Largest singular value of the convolution on a feature map of `sides`, which the strides divide.

    At every frequency of the outputs the convolution is a small matrix. Its rows are the input channels, once
    for each of the frequencies of the inputs that the stride makes one.
    """
    groups, *_, inputs, outputs = layer.kernel.shape
    kernel = layer.kernel.reshape(groups, -1, inputs * outputs)
    places = np.indices(layer.window).reshape(len(sides), -1) * np.reshape(layer.dilation, (-1, 1))
    waves = np.exp(-2j * np.pi * (_frequencies(sides, strides) / sides) @ places)  # (frequencies, aliases, window)
    rows = waves.shape[1] * inputs
    step = max(BYTES // (16 * groups * rows * outputs), 1)
    largest = 0.0
    for some in (waves[i : i + step] for i in range(0, len(waves), step)):
        parts = some.reshape(1, -1, some.shape[-1]) @ kernel  # (groups, frequencies and aliases, inputs and outputs)
        largest = max(largest, largest_singular_value(parts.reshape(-1, rows, outputs)))
    return largest / math.sqrt(math.prod(strides))


def _frequencies(sides: Sequence[int], strides: Sequence[int]) -> Array:
    """Frequencies (outputs', aliases, axes) of the inputs; those that are conjugate to others are left out."""
    coarse = [side // stride for side, stride in zip(sides, strides, strict=True)]
    halved = np.indices([*coarse[:-1], coarse[-1] // 2 + 1]).reshape(len(sides), -1).T
    aliases = np.indices(strides).reshape(len(sides), -1).T
    found: Array = halved[:, None] + aliases * coarse
    return found


def gram(matrices: Array) -> Array:
    """Multiply matrices (..., rows, columns) with their adjoints, on their smaller side."""
    adjoints = matrices.conj().swapaxes(-1, -2)
    rows, columns = matrices.shape[-2:]
    found: Array = matrices @ adjoints if rows < columns else adjoints @ matrices
    return found


def largest_singular_value(matrices: Array) -> float:
    """Largest singular value of all matrices (n, rows, columns)."""
    return math.sqrt(max(float(np.linalg.eigvalsh(gram(matrices))[:, -1].max()), 0.0))
