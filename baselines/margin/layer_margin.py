"""Distances of training examples from the decision boundary, measured in the input and in hidden layers.

For an example of class i, the best other class j, logits f, and the features x^l of layer l, the first-order distance
is (f_i - f_j) / |d (f_i - f_j) / d x^l|. The normalized distance is the first-order distance divided by the square root
of the total variation, which is the sum of the features' variances over examples.

Source: Jiang et al. 2018, arXiv 1810.00113.
"""

import functools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from baselines.core.lazy import tf
from baselines.core.measure import MeasureUnavailable, Need, measure
from baselines.core.sample import Array
from baselines.core.subject import Subject, shared
from baselines.network import INPUT, Network, joined
from baselines.network.hidden import hidden_positions

#: Lower bounds of the norm of a gradient, and of the total variation.
SHORTEST, STILL = 1e-6, 1e-12

#: Memory for the gradients of margins, as a multiple of a forward pass's memory.
PASSES = 2

#: Number of hidden layers in which distances are measured, in addition to the input.
HIDDEN = 3


def chosen_positions(network: Network) -> tuple[int, ...]:
    """Return the positions of the input and of three evenly spaced hidden layers; if fewer exist, some appear twice."""
    hidden = hidden_positions(network)
    if not hidden:
        raise MeasureUnavailable("needs a hidden layer, which this network lacks")
    return INPUT, *(hidden[i] for i in np.linspace(0, len(hidden) - 1, HIDDEN).round().astype(int))


@shared
def distances(subject: Subject, positions: tuple[int, ...], n_samples: int, seed: int) -> tuple[Array, Array]:
    """Return first-order distances (layers, n), NaN where the gradient is 0, and total variations (layers,)."""
    network, sample = subject.network, subject.sample(n_samples, seed)
    different = sorted(set(positions))  # networks with few layers have some twice
    run, arrays = functools.partial(_margins, network, different), [sample.inputs, sample.labels]
    batches = network.in_batches(("layer margins", positions), run, arrays, size=network.batch_size_of(PASSES))
    of_examples, of_batches = [], []
    for *found, moments in batches:
        of_examples.append(found)
        of_batches.append(moments)
    margins, lengths = joined(of_examples)
    exact = lengths.astype(np.float64).T
    sizes = np.array([len(found[0]) for found in of_examples])
    variations = [max(_variation(sizes, *zip(*parts, strict=True)), STILL) for parts in zip(*of_batches, strict=True)]
    found = np.where(exact > 0, margins / np.maximum(exact, SHORTEST), np.nan)
    places = np.searchsorted(different, positions)
    return found[places], np.array(variations)[places]


def output_margins(logits: Any, labels: Any) -> Any:
    """Return margins (n,), the true logit minus the largest other logit, as a tensor that can be differentiated."""
    is_true = tf.one_hot(labels, logits.shape[-1], True, False, dtype=tf.bool)
    true = tf.reduce_sum(tf.where(is_true, logits, 0.0), axis=1)
    return true - tf.reduce_max(tf.where(is_true, logits.dtype.min, logits), axis=1)


def margins_at(network: Network, place: int, inputs: Array, labels: Array, *, often: bool = False) -> list[Array]:
    """Return margins (n,), norms (n,) of their gradients in the features at `place`, and the features (n, ...).

    `often` is explained at `Network.in_batches`.
    """

    def run(images: Any, labels: Any) -> tuple[Any, Any, Any]:
        with tf.GradientTape(watch_accessed_variables=False) as tape:
            tape.watch(images)
            features, logits = network.run({INPUT: images}, [place, network.output], tape)  # inputs may be categories
            margin = output_margins(logits, labels)
        return margin, _lengths(tape.gradient(margin, features)), features

    size = network.batch_size_of(PASSES)
    return joined(network.in_batches(("margins at", place), run, [inputs, labels], size=size, often=often))


def _margins(network: Network, positions: Sequence[int], images: Any, labels: Any) -> tuple[Any, Any, Any]:
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(images)
        *layers, logits = network.run({INPUT: images}, [*positions, network.output])
        margin = output_margins(logits, labels)
    lengths = [_lengths(slopes) for slopes in tape.gradient(margin, layers)]
    return margin, tf.stack(lengths, axis=1), [_moments(layer) for layer in layers]


def _lengths(slopes: Any) -> Any:
    return tf.sqrt(tf.reduce_sum(tf.square(slopes), axis=list(range(1, len(slopes.shape)))))


def _moments(features: Any) -> tuple[Any, Any]:
    """Return the mean (features,) of a batch of features (n, ...), and the rows' squared distances (n,) from it."""
    rows = tf.reshape(features, (-1, math.prod(features.shape[1:])))
    first = rows[0]
    apart = rows - first  # the variance of constant features is then exactly 0
    means = tf.reduce_mean(apart, axis=0)
    return first + means, tf.reduce_sum(tf.math.squared_difference(apart, means), axis=1)


def _variation(sizes: Array, means: Sequence[Array], squares: Sequence[Array]) -> float:
    centers = np.stack(means).astype(np.float64)
    between = np.sum((centers - sizes @ centers / sizes.sum()) ** 2, axis=1)
    within = np.sum(np.concatenate(squares), dtype=np.float64)
    return float((within + sizes @ between) / sizes.sum())


def normalized(subject: Subject, n_samples: int, seed: int) -> Array:
    """Return normalized distances (layers, n) of the correctly classified examples with a gradient in all layers."""
    found, variations = distances(subject, chosen_positions(subject.network), n_samples, seed)
    kept = found[:, (np.nan_to_num(found, nan=-1) >= 0).all(axis=0)]
    if not kept.size:
        raise MeasureUnavailable("needs examples that are classified correctly and have a gradient, which are lacking")
    scaled: Array = kept / np.sqrt(variations)[:, None]
    return scaled


def signature(values: Array) -> Array:
    """Return lower fence, three quartiles q1, q2, q3, and upper fence, (5,).

    The fences are minimum and maximum, but at least q1 - 1.5 (q3 - q1) and at most q3 + 1.5 (q3 - q1).
    """
    low, middle, high = np.percentile(values, [25, 50, 75])
    reach = 1.5 * (high - low)
    return np.array([max(values.min(), low - reach), low, middle, high, min(values.max(), high + reach)])


@measure(Need.LABELS, Need.GRADIENTS, Need.QUANTITIES)
def layer_margin_log_mean(subject: Subject, *, n_samples: int = 2048, seed: int = 0) -> float:
    """Minus the mean logarithm of the margin signatures of the input and three hidden layers.

    Formula: -mean over layers and their five statistics of ln max(statistic, 1e-9).

    A layer's margin signature has five statistics of the normalized distances of correctly classified examples (see
    `layer_margin_mean_l1`): the three quartiles and the two fences of a box plot.
    """
    signatures = np.array([signature(values) for values in normalized(subject, n_samples, seed)])
    return -float(np.log(np.maximum(signatures, 1e-9)).mean())


def _layer_margin(statistic: str, layer: int) -> None:
    where = "in the input" if layer == 0 else f"in hidden layer {layer} of 3"
    what = {"q1": "lower quartile", "median": "median", "mean": "mean"}[statistic]

    @measure(
        Need.LABELS, Need.GRADIENTS, Need.QUANTITIES,  # the input is one of the layers
        name=f"layer_margin_{statistic}_l{layer}", what=what, where=where, statistic=statistic, layer=layer,
    )  # fmt: skip
    def layer_margin(subject: Subject, *, n_samples: int = 2048, seed: int = 0) -> float:
        """Minus the $what of the normalized distances of examples from the boundary, measured $where.

        Formula: -$statistic of (f_i - f_j) / |d (f_i - f_j) / d x^$layer| / sqrt(v) over correctly classified examples,
        f the logits, i the true class, j the best other class, x^$layer the features, v the sum of their variances.
        Range: (-inf, 0].

        The three hidden layers are evenly spaced.
        """
        values = normalized(subject, n_samples, seed)[layer]
        return -float(
            values.mean() if statistic == "mean" else np.percentile(values, {"q1": 25, "median": 50}[statistic])
        )


for _layer in range(HIDDEN + 1):
    for _statistic in ("q1", "median", "mean"):
        _layer_margin(_statistic, _layer)
