"""How far the spectra of layers are from those of random matrices.

Layers and eigenvalues are those of `correlation`. Neither measure depends on the scale of a layer.

The law of Marchenko and Pastur is fitted as WeightWatcher 0.7.7 does. Eigenvalues are scaled to a mean of 1, and their
density is that of a kernel estimate. The law's sigma is the one with the least squares. For square matrices the program
fits singular values, by a quarter circle whose radius stays 2.

Refused: no layer counts.
"""

import math

import numpy as np

from baselines.core.measure import MeasureUnavailable, measure
from baselines.core.sample import Array
from baselines.core.streams import stream
from baselines.core.subject import Subject
from baselines.norm.correlation import counted_layers

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


@measure()
def rand_distance(subject: Subject, *, n_draws: int = 5, min_eigenvalues: int = 8, seed: int = 0) -> float:
    """Minus the distance of the layers' spectra from those of the same weights in random order.

    Formula: -mean over layers of sqrt(JS(x / sum x, z / sum z)), x, z ascending eigenvalues of W'W, and of permuted W.
    Range: [-sqrt(ln 2), 0]; near 0 where nothing was learned. Source: rand_distance of WeightWatcher 0.7.7, Martin and
    Mahoney's program. Work: SVD, and 5 of permuted weights. Draws: by input.

    Minus weightwatcher's mean `rand_distance`. The Jensen-Shannon distance, in nats, compares sorted eigenvalues one by
    one; a permutation leaves their sum. Weights of a convolution are permuted at each place of its window. The program
    permutes once; the mean over more draws varies less. Layers of one input or output channel do not count, as no
    permutation changes their spectrum: the program finds 0 for them or, by rounding, no number.

    Args:
        n_draws: permutations of each layer.
    """
    found = []
    for number, layer in enumerate(counted_layers(subject, min_eigenvalues)):
        if min(layer.sides) > 1:
            for draw in range(n_draws):
                permuted = layer.permuted(stream("permutations of weights", seed, number, draw))
                found.append(_distance(layer.eigenvalues, permuted.eigenvalues))
    if not found:
        raise MeasureUnavailable("needs a layer of several input and output channels, which this network lacks")
    return -float(np.mean(found))


@measure()
def mp_soft_rank(subject: Subject, *, min_eigenvalues: int = 8) -> float:
    """MP soft rank: edge of the law of Marchenko and Pastur over the largest eigenvalue.

    Formula: mean over layers of lambda_+ / max x, lambda_+ = sigma^2 (1 + sqrt b)^2, b <= 1 the ratio of W's sides,
    sigma fitted to the density of x by least squares. Range: (0, inf); small where eigenvalues rise above their bulk.
    Source: Martin and Mahoney 2018, arXiv 1810.01075, as their program WeightWatcher 0.7.7 fits the law. Work: SVD.

    Mean soft rank: weightwatcher's `mp_softrank`. About 1 for random weights, but 0.44 for the singular values of
    square matrices that are all equal, because of the quarter circle that the program fits to them. For windows of an
    even number of places with more inputs than outputs the program takes the ratio of the sides upside down; here it is
    at most 1.
    """
    found = [soft_rank(layer.eigenvalues, layer.sides) for layer in counted_layers(subject, min_eigenvalues)]
    return float(np.mean(found))


def _distance(first: Array, second: Array) -> float:
    """Jensen-Shannon distance of two spectra, each scaled to sum 1; rounding can take its square below 0."""
    from scipy.special import rel_entr  # here: listing the measures must not wait for it

    shares = np.stack([first / first.sum(), second / second.sum()])
    return math.sqrt(max(float(rel_entr(shares, shares.mean(axis=0)).sum()) / 2, 0.0))
