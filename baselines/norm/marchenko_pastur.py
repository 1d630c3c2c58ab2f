"""The law of Marchenko and Pastur, fitted to the eigenvalues of a layer as WeightWatcher 0.7.7 does.

Eigenvalues are scaled to a mean of 1, and their density is that of a kernel estimate. The law's sigma is the one with
the least squares. For square matrices the program fits singular values, by a quarter circle whose radius stays 2.
"""

import math

import numpy as np

from baselines.core.sample import Array

#: Half the width of the triangles of which the density is made, and how many places it is looked at.
BANDWIDTH, PLACES = 0.1, 1000

#: Where the density is smaller it does not count.
THIN = 0.01

#: Squares at a sigma whose law cannot be that of the eigenvalues.
IMPOSSIBLE = 1e9


def soft_rank(eigenvalues: Array, sides: tuple[int, int]) -> float:
    """Upper edge of the law over the largest eigenvalue.

    Args:
        eigenvalues: (n,), not all 0.
        sides: the shorter and the longer side of the layer's matrices.
    """
    from scipy.optimize import brute  # here: listing the measures must not wait for it

    scaled = eigenvalues / eigenvalues.mean()
    ratio = math.sqrt(sides[0] / sides[1])
    places, density = _density(np.sqrt(scaled) if ratio == 1 else scaled)
    peak = places[density.argmax()]

    def squares(parameters: Array) -> float:
        sigma = float(np.ravel(parameters)[0])
        if ratio == 1:
            law = np.sqrt(np.maximum(4 - places**2, 0)) / (math.pi * sigma**2)
            return float(np.sum((law - density) ** 2))
        low, high = (sigma * (1 - ratio)) ** 2, (sigma * (1 + ratio)) ** 2
        if not (low <= peak <= high <= places[-1]):
            return IMPOSSIBLE
        roots = np.sqrt(np.maximum((high - places) * (places - low), 0))
        law = np.divide(roots, 2 * math.pi * (sigma * ratio) ** 2 * places, where=roots > 0, out=np.zeros_like(roots))
        return float(np.sum((law - density) ** 2))

    largest = math.sqrt(scaled.max()) / (1 + ratio)
    (sigma,) = brute(squares, (slice(0.05 * largest, 2 * largest, 0.01 * largest),))
    return float((sigma * (1 + ratio)) ** 2 / scaled.max())


def _density(values: Array) -> tuple[Array, Array]:
    """Places, and the density there, where it is not thin."""
    places = np.linspace(0, values.max() + 0.5, PLACES)
    density = np.array([np.maximum(BANDWIDTH - np.abs(place - values), 0).mean() for place in places]) / BANDWIDTH**2
    return places[density > THIN], density[density > THIN]
