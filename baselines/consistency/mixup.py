"""Mixup errors: errors on averages of two training examples of a class, in the input or in the first hidden layer.

Source: Natekar and Sharma 2020, arXiv 2012.02775. Draws: depend on the order of examples.
"""

from fractions import Fraction
from typing import Any

import numpy as np

from baselines.consistency.davies_bouldin import mean_index
from baselines.core.lazy import tf
from baselines.core.measure import MEASURES, MeasureUnavailable, Need, measure
from baselines.core.sample import Array, Sample
from baselines.core.streams import stream
from baselines.core.subject import Subject, shared
from baselines.network import INPUT, Network
from baselines.network.hidden import before_activation, first_hidden


@measure(Need.LABELS, Need.QUANTITIES)
def mixup_error(
    subject: Subject, *, per_class: int = 10, n_batches: int = 40, parity_unshuffled: bool = False, seed: int = 0
) -> float:
    """Error on averages of two training examples of the same class.

    Formula: 1 - mean over classes y of P(class y is predicted for (x_i + x_j) / 2), over all pairs of examples x_i, x_j
    of class y in a batch; kappa classes. Range: [0, 1]. Work: 1 forward pass over 1800 x kappa mixtures. Refused: no
    class has two examples.

    There are several passes through a small training set, in a new order each time, until there are `n_batches` full
    batches.

    Args:
        per_class: examples in a batch divided by the number of classes.
        n_batches: number of batches; a training set smaller than a batch is a single batch.
        parity_unshuffled: take examples in the order of the training set, cyclically, as in the authors' code.
    """
    return midpoint_error(
        subject, per_class=per_class, n_batches=n_batches, parity_unshuffled=parity_unshuffled, seed=seed
    )


@shared
def midpoint_error(subject: Subject, *, per_class: int, n_batches: int, parity_unshuffled: bool, seed: int) -> float:
    """Return the value of `mixup_error`. It is cached, because several measures need it."""
    size = per_class * subject.network.n_classes
    if not parity_unshuffled:
        return _error(subject.network, *_drawn(subject, size, n_batches, seed), INPUT)
    order = np.arange(size * n_batches) % len(subject.examples)
    return _error(subject.network, subject.examples, order.reshape(n_batches, size), INPUT)


@measure(Need.LABELS)
def manifold_mixup_error(
    subject: Subject, *, batch: int = 50, n_batches: int = 120, preactivation: bool = False, seed: int = 0
) -> float:
    """Error on averages of the first hidden layer's outputs for two training examples of the same class.

    Formula: 1 - mean over classes y of P(class y is predicted from (x_i^1 + x_j^1) / 2), over all pairs of examples of
    class y in a batch, x^1 the layer's output. Range: [0, 1]. Work: 1 forward pass over 12,000 mixtures. Refused: no
    class has two examples in a batch, or the network lacks the layer.

    The layer, with its normalization and activation, is the first that is not linear in the input. All batches count;
    in the authors' code only the last batch does.

    Args:
        batch: examples in a batch.
        n_batches: number of batches; a training set smaller than a batch is a single batch.
        preactivation: average before the layer's activation, as in the authors' code; with a single linear layer before
            the activation, this equals averaging inputs.
    """
    network = subject.network
    position = first_hidden(network)
    if preactivation:
        position = before_activation(network, position)
    return _error(network, *_drawn(subject, batch, n_batches, seed), position)


@measure(Need.LABELS, Need.QUANTITIES)
def dbi_mixup(subject: Subject, *, seed: int = 0) -> float:
    """Davies-Bouldin index times mixup error: winner of the PGDL competition.

    Formula: davies_bouldin_index times mixup_error, with their default parameters, for kappa classes. Range: [0, inf);
    0 if either is 0. Work: 1 forward pass over 1800 x kappa mixtures, and 1 forward pass over 4800 examples up to the
    first convolution.

    `dbi_mixup_winner` uses the draws of the authors' code. At chance accuracy the value is meaningless: if all
    representations coincide, the index has its best value, 0.
    """
    overlap = mean_index(subject, **MEASURES["davies_bouldin_index"].parameters | {"seed": seed})
    return overlap * midpoint_error(subject, **MEASURES["mixup_error"].parameters | {"seed": seed})


def _drawn(subject: Subject, size: int, n_batches: int, seed: int) -> tuple[Sample, Array]:
    """Return random examples and, for each full batch, positions among these examples: (batches, size).

    Each pass over the examples has a new order. If there are fewer examples than `size`, all are a single batch.
    """
    sample = subject.sample(size * n_batches, seed)
    if len(sample) < size:
        return sample, np.arange(len(sample))[None]
    rng = stream("mixup", seed)
    order, found = np.arange(len(sample)), np.empty((0, size), int)
    while len(found) < n_batches:
        found = np.concatenate([found, order[: len(order) // size * size].reshape(-1, size)])
        order = rng.permutation(len(sample))
    return sample, found[:n_batches]


def _error(network: Network, sample: Sample, batches: Array, position: int) -> float:
    first, second = pairs_of(sample.labels, batches)
    if not len(first):
        raise MeasureUnavailable("needs two examples of a class, which this training set lacks")
    labels = sample.labels[first]
    right = predicted_class(network, sample.inputs, first, second, position) == labels
    classes, members = np.unique(labels, return_inverse=True)
    hits, pairs = np.bincount(members, right).astype(int), np.bincount(members)
    accuracies = (Fraction(int(some), int(all_)) for some, all_ in zip(hits, pairs, strict=True))
    return float(1 - sum(accuracies, Fraction(0)) / len(classes))


def pairs_of(labels: Array, batches: Array) -> tuple[Array, Array]:
    """Return the positions (n,) of the first and of the second examples in all pairs from the same class and batch."""
    found = []
    for batch in batches:
        order = batch[np.argsort(labels[batch], kind="stable")]
        some, others = np.nonzero(np.triu(labels[order, None] == labels[order], 1))
        found.append(np.stack([order[some], order[others]]))
    first, second = np.concatenate(found, axis=1)
    return first, second


def predicted_class(network: Network, inputs: Array, first: Array, second: Array, position: int) -> Array:
    """Return classes (n,) predicted from the averages of n pairs' representations at `position`."""
    numbers = np.minimum(first, second) * len(inputs) + np.maximum(first, second)
    different, places_of_pairs = np.unique(numbers, return_inverse=True)
    first, second = np.divmod(different, len(inputs))

    def run(images: Any, some: Any, others: Any) -> Any:
        halves = network.run({INPUT: images}, [position])[0] / 2
        middle = tf.gather(halves, some) + tf.gather(halves, others)
        return tf.argmax(network.run({position: middle}, [network.output])[0], axis=1, output_type=tf.int32)

    places = tf.TensorSpec((None,), tf.int64)
    starts = range(0, len(first), network.batch_size)
    specs = [network.spec(INPUT), places, places]
    compiled = network.compiled(("mixed", position), run, *specs, n_calls=len(starts))
    predicted = []
    for start in starts:
        end = start + network.batch_size
        used, (some, others) = np.unique(np.stack([first[start:end], second[start:end]]), return_inverse=True)
        predicted.append(compiled(inputs[used], some, others).numpy())
    found: Array = np.concatenate(predicted)[places_of_pairs]
    return found
