"""Differences between the spectra of layers and spectra of random matrices.

`baselines/norm/correlation.py` defines layers and eigenvalues. The measures do not depend on the scale of a layer.

The Marchenko-Pastur law of random matrices is fitted as in WeightWatcher 0.7.7. Eigenvalues are scaled to a mean of 1.
A kernel density estimate smooths them. The law's parameter sigma minimizes the squared difference from this density.
For square matrices, WeightWatcher fits a quarter circle of fixed radius 2 to the density of singular values.

Refused: all layers are left out.
"""

import math

import numpy as np

from baselines.core.measure import MeasureUnavailable, measure
from baselines.core.sample import Array
from baselines.core.streams import stream
from baselines.core.subject import Subject
from baselines.norm.correlation import counted_layers

#: Half the width of the triangular kernels for the density; number of points at which the density is computed.
BANDWIDTH, PLACES = 0.1, 1000

#: Smallest density to which the law is fitted.
THIN = 0.01

#: Value of the sum of squares if the law does not cover the density's peak, or extends beyond the density.
IMPOSSIBLE = 1e9


def soft_rank(eigenvalues: Array, sides: tuple[int, int]) -> float:
    """Return the upper edge of the Marchenko-Pastur law fitted to eigenvalues, divided by the largest eigenvalue.

    At least one of the eigenvalues (n,) must be above 0. `sides` are the shorter and the longer side of the matrices.
    """
    from scipy.optimize import brute  # here, so that listing the measures is fast

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
    """Return the equidistant points where the density of `values` is above `THIN`, and the density there."""
    places = np.linspace(0, values.max() + 0.5, PLACES)
    density = np.array([np.maximum(BANDWIDTH - np.abs(place - values), 0).mean() for place in places]) / BANDWIDTH**2
    return places[density > THIN], density[density > THIN]


@measure()
def rand_distance(subject: Subject, *, n_draws: int = 5, min_eigenvalues: int = 8, seed: int = 0) -> float:
    """Minus the distance of the layers' spectra from spectra of the same weights in random order.

    Formula: -mean over layers of sqrt(JS(x / sum x, z / sum z)), JS the Jensen-Shannon divergence in nats, x the
    ascending eigenvalues of W'W, z those of W'W with permuted W. Range: [-sqrt(ln 2), 0]; near 0 for untrained layers.
    Source: rand_distance of WeightWatcher 0.7.7, Martin and Mahoney's program. Work: SVD of the weights and of 5
    permutations. Draws: depend on the order of input dimensions.

    Minus WeightWatcher's mean `rand_distance`. The weights of a convolution are permuted within each position of its
    window. WeightWatcher permutes once; a mean over more draws varies less. Layers with a single input or output
    channel are left out, since no permutation changes their spectrum; WeightWatcher finds 0 or, by rounding, NaN.

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
    """MP soft rank: upper edge of the fitted Marchenko-Pastur law, divided by the largest eigenvalue.

    Formula: mean over layers of lambda_+ / max x, lambda_+ = sigma^2 (1 + sqrt b)^2, x the eigenvalues of W'W, b <= 1
    the ratio of W's sides, sigma fitted to the density of x by least squares. Range: (0, inf); small if eigenvalues are
    far above the edge lambda_+. Source: Martin and Mahoney 2018, arXiv 1810.01075, as their program WeightWatcher 0.7.7
    fits the law. Work: SVD.

    WeightWatcher's `mp_softrank`. The value is about 1 for random weights. For square matrices, WeightWatcher fits a
    quarter circle of fixed radius, so the value is 0.44 if all singular values are equal. For convolutions with an even
    number of window positions and more inputs than outputs, WeightWatcher inverts the ratio of the sides; here the
    ratio is at most 1.
    """
    found = [soft_rank(layer.eigenvalues, layer.sides) for layer in counted_layers(subject, min_eigenvalues)]
    return float(np.mean(found))


def _distance(first: Array, second: Array) -> float:
    from scipy.special import rel_entr  # here, so that listing the measures is fast

    shares = np.stack([first / first.sum(), second / second.sum()])
    return math.sqrt(max(float(rel_entr(shares, shares.mean(axis=0)).sum()) / 2, 0.0))
