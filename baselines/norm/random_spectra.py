"""How far the spectra of layers are from those of random matrices.

Layers and eigenvalues are those of `correlation`. Neither measure depends on the scale of a layer.
"""

import math

import numpy as np

from baselines.core.measure import MeasureUnavailable, measure
from baselines.core.sample import Array
from baselines.core.streams import stream
from baselines.core.subject import Subject
from baselines.norm.correlation import counted_layers
from baselines.norm.marchenko_pastur import soft_rank


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

    Raises:
        MeasureUnavailable: no layer counts.
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
    square matrices that are all equal, because of the quarter circle that the program fits to them (see
    `marchenko_pastur`). For windows of an even number of places with more inputs than outputs the program takes the
    ratio of the sides upside down; here it is at most 1.

    Raises:
        MeasureUnavailable: no layer counts.
    """
    found = [soft_rank(layer.eigenvalues, layer.sides) for layer in counted_layers(subject, min_eigenvalues)]
    return float(np.mean(found))


def _distance(first: Array, second: Array) -> float:
    """Jensen-Shannon distance of two spectra, each scaled to sum 1; rounding can take its square below 0."""
    from scipy.special import rel_entr  # here: listing the measures must not wait for it

    shares = np.stack([first / first.sum(), second / second.sum()])
    return math.sqrt(max(float(rel_entr(shares, shares.mean(axis=0)).sum()) / 2, 0.0))
