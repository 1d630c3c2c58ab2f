"""Persistent homology, in degree 0, of the graph of units whose edges are correlations of their activations.

Ballester et al. 2024 (arXiv 2203.12330): units are points at distances 1 - |corr| of their activations over training
examples. In degree 0 all points are born at 0, and a point dies at the length of each edge of a minimum spanning tree,
a height at which single linkage joins clusters.

Source: Ballester et al. 2024, arXiv 2203.12330. Work: 2 F.

n_units: largest number of units, outputs of weight layers behind their activations. If there are more, units are drawn,
    weighted by the number of examples on which a unit is the most active.
"""

import math
from typing import Any

import numpy as np

from baselines.core.lazy import tf
from baselines.core.measure import MeasureUnavailable, Need, measure
from baselines.core.product import product
from baselines.core.sample import Array
from baselines.core.streams import stream
from baselines.core.subject import Subject, shared
from baselines.network import INPUT, Network
from baselines.network.hidden import hidden_positions

#: Units per block of correlations.
ROWS = 256


@shared
def deaths(subject: Subject, n_samples: int, n_units: int, seed: int) -> Array:
    """Return the deaths (units - 1,) of the finite classes of degree 0, in [0, 1], ascending."""
    return merge_heights(unit_distances(subject, n_samples, n_units, seed))


def unit_distances(subject: Subject, n_samples: int, n_units: int, seed: int) -> Array:
    """Draw examples and units; returns `dissimilarities` (units, units) of the units over the examples."""
    network, sample = subject.network, subject.sample(n_samples, seed)
    places, starts = unit_positions(network), _starts(network)

    def chosen(images: Any, *units: Any) -> Any:
        of_layers = zip(_activations(network, places, images), units, strict=True)
        return tf.concat([tf.gather(outputs, some, axis=1) for outputs, some in of_layers], axis=1)

    units = np.arange(starts[-1])
    if len(units) > n_units:
        counts = _times_most_active(subject, n_samples, seed)
        units = draw_units(counts, n_units, stream("units of persistence", seed))
    if len(units) < 2:
        raise MeasureUnavailable("needs two units, which this network lacks")
    parts = np.split(units, np.searchsorted(units, starts[1:-1]))
    of_layers = [some - start for some, start in zip(parts, starts[:-1], strict=True)]
    activations = network.in_batches(("activations of units", places), chosen, [sample.inputs], *of_layers)
    return dissimilarities(np.concatenate(list(activations)))


@shared
def _times_most_active(subject: Subject, n_samples: int, seed: int) -> Array:
    network, sample = subject.network, subject.sample(n_samples, seed)
    places, starts = unit_positions(network), _starts(network)

    def most_active(images: Any) -> Any:
        sizes = [tf.abs(outputs) for outputs in _activations(network, places, images)]
        largest = tf.stack([tf.reduce_max(some, axis=1) for some in sizes], axis=1)
        units = tf.stack([tf.argmax(some, axis=1) for some in sizes], axis=1) + starts[:-1]
        return tf.gather(units, tf.argmax(largest, axis=1), batch_dims=1)

    found = network.in_batches(("most active units", places), most_active, [sample.inputs])
    return np.bincount(np.concatenate(list(found)), minlength=starts[-1])


def _starts(network: Network) -> Array:
    """Number (layers + 1,) of the first unit of each layer, and of all units."""
    found: Array = np.cumsum([0, *(math.prod(network.shape(place)) for place in unit_positions(network))])
    return found


def unit_positions(network: Network) -> tuple[int, ...]:
    """Positions of the hidden layers' outputs, behind normalizations and activations, and of the logits."""
    return tuple(dict.fromkeys([*hidden_positions(network), network.output]))


def _activations(network: Network, places: tuple[int, ...], images: Any) -> list[Any]:
    outputs = network.run({INPUT: images}, places)
    return [tf.reshape(output, (-1, math.prod(output.shape[1:]))) for output in outputs]


def draw_units(counts: Array, number: int, rng: np.random.Generator) -> Array:
    """Draw `number` units without replacement, in order; returns all units if there are no more.

    The weight of a unit is its entry in `counts` (units,): the number of examples on which it is the most active unit.
    Units with count 0 share the weight of a single example.
    """
    if len(counts) <= number:
        return np.arange(len(counts))
    idle = counts == 0
    weights = np.where(idle, 1 / max(idle.sum(), 1), counts)
    return np.sort(rng.choice(len(counts), number, replace=False, p=weights / weights.sum()))


def dissimilarities(activations: Array) -> Array:
    """1 - |corr| (units, units), float32, of activations (n, units); constant units have correlation 0."""
    unit = np.empty(activations.shape[::-1], np.float32)
    found = np.empty((len(unit), len(unit)), np.float32)
    for start in range(0, len(unit), ROWS):
        some = slice(start, start + ROWS)
        unit[some] = _of_length_one(activations[:, some]).T
        block = product(unit[some], unit[: start + ROWS].T)
        np.abs(block, out=block)
        np.subtract(1, block, out=block)
        np.maximum(block, 0, out=block)
        found[some, : block.shape[1]], found[: block.shape[1], some] = block, block.T
    return found


def _of_length_one(activations: Array) -> Array:
    centered: Array = activations - activations.mean(axis=0, dtype=np.float64)
    lengths = np.linalg.norm(centered, axis=0)
    centered /= np.where(lengths > 0, lengths, 1)
    return centered


def merge_heights(distances: Array) -> Array:
    """Heights (n - 1,) at which single linkage joins n points at symmetric `distances` (n, n), ascending.

    The heights are the edges of a minimum spanning tree, found by Prim's algorithm.
    """
    nearest, taken = np.full((2, len(distances)), [[np.inf], [0.0]], distances.dtype)
    heights, point = np.empty(len(distances) - 1), 0
    for number in range(len(heights)):
        taken[point] = np.inf
        np.minimum(nearest, distances[point], out=nearest)
        np.maximum(nearest, taken, out=nearest)  # points in the tree are no candidates
        point = int(nearest.argmin())
        heights[number] = nearest[point]
    return np.sort(heights)


@measure(Need.DATA)
def persistence_mean_h0(subject: Subject, *, n_samples: int = 2000, n_units: int = 3000, seed: int = 0) -> float:
    """Minus the mean death in degree 0 of the persistent homology of the units' correlations.

    Formula: -mean edge of a minimum spanning tree of units at distances 1 - |corr(a_i, a_j)|. Range: [-1, 0]; 0 if all
    correlations are 1 or -1. Refused: there are fewer than two units, or a layer's weights are not understood.

    Units that are constant on all examples, such as dead units, have the distance 1 from all others, and are included,
    as in the authors' code. With 7 dead units among the 42 of a network the value is -0.424, without them -0.305.

    Ballester et al. fit weights of several summaries to gaps. In degree 0 the mean life is the mean death, and the mean
    midlife half of it. The sign is that of the authors' later work, which increases deaths to reduce the gap.
    """
    return -float(np.mean(deaths(subject, n_samples, n_units, seed)))


@measure(Need.DATA)
def persistence_std_h0(subject: Subject, *, n_samples: int = 2000, n_units: int = 3000, seed: int = 0) -> float:
    """Standard deviation of the deaths in degree 0 of the persistent homology of the units' correlations.

    Formula: standard deviation of the edges of a minimum spanning tree of units at distances 1 - |corr(a_i, a_j)|.
    Range: [0, 1/2].

    Ballester et al. do not argue for a sign.
    """
    return float(np.std(deaths(subject, n_samples, n_units, seed)))
