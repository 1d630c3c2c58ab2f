"""Persistent homology, in degree 0, of the graph of units whose edges are correlations of their activations.

Units are points. The distance of two units is 1 - |corr|, corr the correlation of their activations over training
examples. In degree 0 all points are born at 0. They die at the lengths of the edges of a minimum spanning tree, which
are the heights at which single linkage joins clusters.

Source: Ballester et al. 2024, arXiv 2203.12330. Work: 2 forward passes.

n_units: largest number of units, which are outputs of weight layers after their activations. If there are more, units
    are drawn, weighted by the number of examples on which a unit is the most active.
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

#: Number of units whose correlations are computed at once.
ROWS = 256


@shared
def deaths(subject: Subject, n_samples: int, n_units: int, seed: int) -> Array:
    """Return the deaths (units - 1,), in [0, 1], ascending: the distances at which clusters of units merge."""
    return merge_heights(unit_distances(subject, n_samples, n_units, seed))


def unit_distances(subject: Subject, n_samples: int, n_units: int, seed: int) -> Array:
    """Return `dissimilarities` (units, units) of random units over random training examples."""
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
    found: Array = np.cumsum([0, *(math.prod(network.shape(place)) for place in unit_positions(network))])
    return found


def unit_positions(network: Network) -> tuple[int, ...]:
    """Return the positions of the logits, and of hidden layers' outputs after normalizations and activations."""
    return tuple(dict.fromkeys([*hidden_positions(network), network.output]))


def _activations(network: Network, places: tuple[int, ...], images: Any) -> list[Any]:
    outputs = network.run({INPUT: images}, places)
    return [tf.reshape(output, (-1, math.prod(output.shape[1:]))) for output in outputs]


def draw_units(counts: Array, number: int, rng: np.random.Generator) -> Array:
    """Return `number` units drawn without replacement, ascending; all units if there are at most `number`.

    The weight of a unit is its entry in `counts` (units,): the number of examples on which it is the most active unit.
    All units with count 0 together weigh as much as a single example.
    """
    if len(counts) <= number:
        return np.arange(len(counts))
    idle = counts == 0
    weights = np.where(idle, 1 / max(idle.sum(), 1), counts)
    return np.sort(rng.choice(len(counts), number, replace=False, p=weights / weights.sum()))


def dissimilarities(activations: Array) -> Array:
    """Return 1 - |corr| (units, units), float32, of activations (n, units); constant units have correlation 0."""
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
    """Return the edge lengths (n - 1,), ascending, of a minimum spanning tree of points with `distances` (n, n)."""
    nearest, taken = np.full((2, len(distances)), [[np.inf], [0.0]], distances.dtype)
    heights, point = np.empty(len(distances) - 1), 0
    for number in range(len(heights)):
        taken[point] = np.inf
        np.minimum(nearest, distances[point], out=nearest)
        np.maximum(nearest, taken, out=nearest)  # points in the tree are not candidates
        point = int(nearest.argmin())
        heights[number] = nearest[point]
    return np.sort(heights)


@measure(Need.DATA)
def persistence_mean_h0(subject: Subject, *, n_samples: int = 2000, n_units: int = 3000, seed: int = 0) -> float:
    """Minus the mean death in degree 0 of the persistent homology of the units' correlations.

    Formula: -mean edge length of a minimum spanning tree of units at distances 1 - |corr(a_i, a_j)|, a_i the
    activations of unit i over examples. Range: [-1, 0]; 0 if all correlations are 1 or -1. Refused: there are fewer
    than two units, or a layer's weights are not understood.

    As in the authors' code, units that are constant on all examples, such as dead units, are included; their distance
    from all others is 1. With 7 dead units among the 42 of a network the value is -0.424, without them -0.305.

    Ballester et al. fit a weighted sum of several summaries to gaps. In degree 0, all births are 0: the mean life is
    the mean death, and the mean midlife is half the mean death. The sign is that of the authors' later work, which
    increases deaths to reduce the gap.
    """
    return -float(np.mean(deaths(subject, n_samples, n_units, seed)))


@measure(Need.DATA)
def persistence_std_h0(subject: Subject, *, n_samples: int = 2000, n_units: int = 3000, seed: int = 0) -> float:
    """Standard deviation of the deaths in degree 0 of the persistent homology of the units' correlations.

    Formula: standard deviation of the edge lengths of a minimum spanning tree of units at distances 1 - |corr(a_i,
    a_j)|, a_i the activations of unit i over examples. Range: [0, 1/2].

    Ballester et al. give no reason why larger values should go with larger gaps, or with smaller gaps.
    """
    return float(np.std(deaths(subject, n_samples, n_units, seed)))
