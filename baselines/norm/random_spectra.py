"""How far the spectra of layers are from those of random matrices.

Eigenvalues are those of `correlation`. Neither measure depends on the scale of a layer.
"""

import math
from dataclasses import replace

import numpy as np

from baselines.core.measure import Cost, MeasureUnavailable, measure
from baselines.core.sample import Array
from baselines.core.streams import stream
from baselines.core.subject import Subject
from baselines.norm.correlation import eigenvalues, of_places, positive
from baselines.norm.linear_map import LinearMap, trained_maps

#: Angles at which the law of Marchenko and Pastur is added up.
ANGLES = 4096


@measure(
    meaning="minus the distance of the layers' spectra from those of the same weights in random order",
    formula="-mean over layers of sqrt(JS(x / sum x, z / sum z)), x, z ascending eigenvalues of W'W, and of permuted W",
    source="rand_distance of WeightWatcher, Martin and Mahoney's program",
    cost=Cost.WEIGHTS,
    work="SVD, and 5 of permuted weights",
)
def rand_distance(subject: Subject, *, n_draws: int = 5, min_eigenvalues: int = 10, seed: int = 0) -> float:
    """Minus the mean Jensen-Shannon distance, in nats. Range: [-sqrt(ln 2), 0]; near 0 where nothing was learned.

    Like the program, it compares sorted eigenvalues one by one; a permutation leaves their sum. The program permutes
    once, and does not fold batch normalization. Weights of a convolution are permuted at each place of its window.
    Layers of one input or output channel do not count: no permutation changes their spectrum.

    Args:
        subject: the network.
        n_draws: permutations of each layer.
        min_eigenvalues: layers with fewer positive ones do not count.
        seed: draws the permutations.

    Raises:
        MeasureUnavailable: no layer counts.
    """
    found = []
    for number, layer, values in _layers(subject, min_eigenvalues):
        if min(layer.kernel.shape[-2:]) > 1:
            for draw in range(n_draws):
                permuted = _permuted(layer, stream("permutations of weights", seed, number, draw))
                found.append(_distance(values, of_places(permuted)))
    if not found:
        raise MeasureUnavailable("needs a layer of several input and output channels, which this network lacks")
    return -float(np.mean(found))


@measure(
    meaning="MP soft rank: edge of the law of Marchenko and Pastur over the largest eigenvalue",
    formula="mean over layers of lambda_+ / max x, lambda_+ = median x (1 + sqrt b)^2 / median of MP(b), b <= 1 the "
    "ratio of W's sides",
    source="Martin and Mahoney 2018, arXiv 1810.01075; the variance as Gavish and Donoho 2014, arXiv 1305.5870",
    cost=Cost.WEIGHTS,
    work="SVD",
)
def mp_soft_rank(subject: Subject, *, min_eigenvalues: int = 10) -> float:
    """Mean soft rank. Range: [0, inf); about 1 for random weights, small where eigenvalues rise above their bulk.

    The authors fit the law to the bulk of the eigenvalues, by eye or by least squares to a smoothed density; here its
    median is that of the eigenvalues, which a few large ones hardly move. 0 where half of them are 0.

    Args:
        subject: the network.
        min_eigenvalues: layers with fewer positive ones do not count.

    Raises:
        MeasureUnavailable: no layer counts.
    """
    found = []
    for _, layer, values in _layers(subject, min_eigenvalues):
        sides = sorted(layer.kernel.shape[-2:])
        ratio = sides[0] / sides[1]
        edge = float(np.median(values)) * (1 + math.sqrt(ratio)) ** 2 / mp_median(ratio)
        found.append(edge / float(values[-1]))
    return float(np.mean(found))


def _distance(first: Array, second: Array) -> float:
    """Jensen-Shannon distance of two spectra, each scaled to sum 1; rounding can take its square below 0."""
    from scipy.special import rel_entr  # here: listing the measures must not wait for it

    shares = np.stack([first / first.sum(), second / second.sum()])
    return math.sqrt(max(float(rel_entr(shares, shares.mean(axis=0)).sum()) / 2, 0.0))


def mp_median(ratio: float) -> float:
    """Median of the law of Marchenko and Pastur for variance 1 and a ratio of sides in (0, 1]."""
    angles = (np.arange(ANGLES) + 0.5) * np.pi / ANGLES
    places = 1 + ratio - 2 * math.sqrt(ratio) * np.cos(angles)  # from the lower edge to the upper one
    masses = np.sin(angles) ** 2 / places
    reached = np.cumsum(masses) - masses / 2
    return float(np.interp(masses.sum() / 2, reached, places))


def _layers(subject: Subject, min_eigenvalues: int) -> list[tuple[int, LinearMap, Array]]:
    """Numbers of the layers that count, with their eigenvalues, zeros included, in ascending order."""
    pairs = enumerate(zip(trained_maps(subject), eigenvalues(subject), strict=True))
    found = [(i, layer, values) for i, (layer, values) in pairs if len(positive(values)) >= max(min_eigenvalues, 1)]
    if not found:
        raise MeasureUnavailable(f"needs a layer with {min_eigenvalues} eigenvalues, which this network lacks")
    return found


def _permuted(layer: LinearMap, rng: np.random.Generator) -> LinearMap:
    """A layer whose weights are in random order at each place of the window."""
    kernel = layer.kernel
    rows = kernel.reshape(-1, kernel.shape[-2] * kernel.shape[-1])
    return replace(layer, kernel=rng.permuted(rows, axis=1).reshape(kernel.shape))
