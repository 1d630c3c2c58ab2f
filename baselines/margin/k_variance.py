"""Margins over the k-variance of the classes in a hidden layer, by optimal transport.

The k-variance of a class is the Wasserstein-1 distance between the hidden representations of two halves of its
examples. The bound of Chuang et al. depends on a ratio: the margin over the product of the mean k-variance and a
Lipschitz constant of the following layers. As in the authors' code, the examples are divided into halves only once.

Source: Chuang et al. 2021, arXiv 2106.03314. Work: 1 backward pass over 200 x kappa examples. Draws: depend on the
order of examples.

layer: "1st" or "8th" hidden layer; the last if there are fewer.
statistic: "median" of the margins, as in the authors' code, or "mean".
per_class: size of the sample divided by the number of classes; the sample is not stratified.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from baselines.core.measure import MeasureUnavailable, Need, measure
from baselines.core.memory import require_memory
from baselines.core.product import product
from baselines.core.sample import Array
from baselines.core.subject import Subject, shared
from baselines.margin.layer_margin import PASSES, margins_at
from baselines.network import Network
from baselines.network.hidden import hidden_positions

#: Number that is added to norms of gradients; lower bound of the mean k-variance.
SMALL, STILL = 1e-6, 1e-12

#: Value of `layer` -> numbers of the model's layers, from 0, which the authors' code tries in this order.
_PLACES = {"1st": (2, 3, 4, 5), "8th": (8, 9, 6, 7, 5, 4, 3, 2)}


class _Class(NamedTuple):
    share: float  #: the class's fraction of the training set
    margins: Array  #: (n,)
    lengths: Array  #: norms (n,) of the margins' gradients with respect to the layer
    variance: float  #: k-variance of the class in the layer


@shared
def _classes(subject: Subject, place: int, per_class: int, seed: int) -> list[_Class]:
    network, sample = subject.network, subject.sample(per_class * subject.network.n_classes, seed)
    population = subject.examples.labels
    classes, counts = np.unique(sample.labels, return_counts=True)
    needed = 16 * int(counts.max()) * math.prod(network.shape(place))  # float32, centred in float64, float32 again
    require_memory(needed, "a class in the layer", "try a smaller per_class")
    passes = (np.cumsum(counts) - 1) // network.batch_size_of(PASSES)  # number of each class's pass
    found = []
    for number in np.unique(passes):
        part = sample.take(np.flatnonzero(np.isin(sample.labels, classes[passes == number])))
        margins, lengths, features = margins_at(network, place, part.inputs, part.labels, often=passes[-1] > 0)
        for label, count in zip(classes[passes == number], counts[passes == number], strict=True):
            if count > 1:
                share, its = float(np.mean(population == label)), part.labels == label
                found.append(_Class(share, margins[its], lengths[its], k_variance(features[its].reshape(count, -1))))
    if not found:
        raise MeasureUnavailable("needs a class with two examples, which this training set lacks")
    return found


def hidden_position(network: Network, layer: str) -> int:
    """Return the position after hidden layer `layer` ("1st" or "8th"), or after the last of fewer than 8 layers."""
    if layer not in _PLACES:
        raise ValueError(f"layer: expected 1st or 8th, found {layer}")
    hidden = hidden_positions(network)
    if not hidden:
        raise MeasureUnavailable("needs a hidden layer, which this network lacks")
    return hidden[0] if layer == "1st" else hidden[min(7, len(hidden) - 1)]


def authors_position(network: Network, layer: str) -> int:
    """Return the position of the input of the layer that the authors' code chooses for `layer` ("1st" or "8th").

    If the network lacks such a layer, return `hidden_position`.
    """
    if layer in _PLACES:
        strided = {i for i, node in enumerate(network.nodes) if "strides" in node.config}
        for number in _PLACES[layer]:
            if number < len(network.layers) and strided & set(network.nodes_of(number)):
                return network.layers[number][0][0]
    return hidden_position(network, layer)


def k_variance(points: Array) -> float:
    """Return the Wasserstein-1 distance between the first and the second half of points (n, features).

    If n is odd, the last point is left out. Since both halves are equally large, the optimal transport is a matching.
    """
    from scipy.optimize import linear_sum_assignment  # here, so that listing the measures is fast

    half = len(points) // 2
    centered = (points - points.mean(axis=0, dtype=np.float64)).astype(np.float32)
    left, right = centered[:half], centered[half : 2 * half]
    squares = [np.einsum("nf,nf->n", part, part) for part in (left, right)]
    products = product(left, right.T)
    with np.errstate(invalid="ignore"):
        distances = np.sqrt(np.maximum(squares[0][:, None] + squares[1] - 2 * products, 0))
    if not np.isfinite(distances).all():
        raise MeasureUnavailable("needs representations whose squares are finite, which this network lacks")
    return float(distances[linear_sum_assignment(distances)].mean())


def _over(statistic: str, margins: Array, spreads: Array, shares: Array) -> float:
    if statistic not in ("median", "mean"):
        raise ValueError(f"statistic: expected median or mean, found {statistic}")
    value = np.median(margins) if statistic == "median" else np.mean(margins)
    return -float(value) / max(float(spreads @ shares) / float(shares.sum()), STILL)


def _register(suffix: str, where: str, position: Callable[[Network, str], int]) -> None:
    @measure(Need.LABELS, Need.GRADIENTS, name=f"kv_margin{suffix}", where=where)
    def kv_margin(
        subject: Subject, *, layer: str = "1st", statistic: str = "median", per_class: int = 200, seed: int = 0
    ) -> float:
        """kV-Margin: minus the median margin over the mean k-variance of the classes in $where.

        Formula: -median margin / sum_c share_c V_c L_c, share_c the share of class c in the training set, V_c its
        k-variance, L_c its largest |d margin / d x^l|, x^l the representation in the layer. Refused: there is no hidden
        layer, or no class has two examples in the sample.

        The value does not depend on the scales of logits and features. Wrong predictions have negative margins. Classes
        with a single example in the sample are left out. The denominator is at least 1e-12.

        `kv_margin` takes outputs of hidden weight layers, behind normalization and activation. `kv_margin_authors`
        chooses the layer by its number from 0, as the authors' code does: the input of the first convolution or pooling
        layer among the model's layers 2, 3, 4, 5 ("1st") or 8, 9, 6, 7, 5, 4, 3, 2 ("8th"). The numbers depend on how
        the model is written. Without such a layer, the layer is chosen as for `kv_margin`.
        """
        classes = _classes(subject, position(subject.network, layer), per_class, seed)
        margins = np.concatenate([one.margins for one in classes])
        spreads = np.array([one.variance * one.lengths.max() for one in classes])
        return _over(statistic, margins, spreads, np.array([one.share for one in classes]))

    @measure(Need.LABELS, Need.GRADIENTS, name=f"kv_gn_margin{suffix}", where=where)
    def kv_gn_margin(
        subject: Subject, *, layer: str = "8th", statistic: str = "median", per_class: int = 200, seed: int = 0
    ) -> float:
        """kV-GN-Margin: minus the median gradient-normalized margin over the mean k-variance in $where.

        Formula: -median (margin / (|d margin / d x^l| + 1e-6)) / sum_c share_c V_c, share_c the share of class c in the
        training set, V_c its k-variance, x^l the representation in the layer, chosen as for `kv_margin`.
        """
        classes = _classes(subject, position(subject.network, layer), per_class, seed)
        distances = np.concatenate([one.margins / (one.lengths + SMALL) for one in classes])
        spreads = np.array([one.variance for one in classes])
        return _over(statistic, distances, spreads, np.array([one.share for one in classes]))


_register("", "a hidden layer", hidden_position)
_register("_authors", "the layer that the authors' code takes by its number", authors_position)
