"""Error on averages of two training examples of one class, in the input or behind the first layer."""

from typing import Any

import numpy as np

from baselines.consistency.davies_bouldin import mean_index
from baselines.core.lazy import tf
from baselines.core.measure import MEASURES, MeasureUnavailable, Need, measure
from baselines.core.sample import Array, Sample
from baselines.core.subject import Subject, shared
from baselines.network import INPUT, Network

_SOURCE = "Natekar and Sharma 2020, arXiv 2012.02775"
_NEEDS = {Need.DATA, Need.LABELS}


@measure(
    meaning="error on averages of two examples of a class",
    formula="1 - mean over classes and batches of P(f((x_i + x_j) / 2) = y), y_i = y_j = y",
    source=_SOURCE,
    cost="450 classes F",
    needs=_NEEDS,
)
def mixup_error(
    subject: Subject, *, per_class: int = 10, n_batches: int = 10, parity_unshuffled: bool = False, seed: int = 0
) -> float:
    """Error rate on the midpoints of all pairs of examples of a class in a batch. Range: [0, 1].

    All classes weigh alike, and so do all batches that have two examples of a class.

    Args:
        subject: the network and its training data.
        per_class: a batch has this times the number of classes.
        n_batches: batches; fewer where there are too few examples.
        parity_unshuffled: take the first examples of the training set, as the authors do.
        seed: draws the examples.

    Raises:
        MeasureUnavailable: no class has two examples.
    """
    return midpoint_error(
        subject, per_class=per_class, n_batches=n_batches, parity_unshuffled=parity_unshuffled, seed=seed
    )


@shared
def midpoint_error(subject: Subject, *, per_class: int, n_batches: int, parity_unshuffled: bool, seed: int) -> float:
    """`mixup_error`, once for all who ask."""
    size = per_class * subject.network.n_classes
    number = size * n_batches
    if parity_unshuffled:
        sample = subject.examples.take(np.arange(min(number, len(subject.examples))))
    else:
        sample = subject.sample(number, seed)
    return _error(subject.network, sample, size, INPUT)


@measure(
    meaning="error on averages of the first layer's outputs for two examples of a class",
    formula="1 - mean over classes and batches of P(f from (x_i^1 + x_j^1) / 2 = y), y_i = y_j = y",
    source=_SOURCE,
    cost="2000 F",
    needs=_NEEDS,
)
def manifold_mixup_error(
    subject: Subject, *, batch: int = 50, n_batches: int = 20, preactivation: bool = False, seed: int = 0
) -> float:
    """`mixup_error` with averages of what the model's first layer puts out. Range: [0, 1].

    All batches and classes count; in the authors' code the last batch alone does.

    Args:
        subject: the network and its training data.
        batch: examples in a batch.
        n_batches: batches; fewer where there are too few examples.
        preactivation: average before the activation that is part of the layer, as the authors do.
        seed: draws the examples.

    Raises:
        MeasureUnavailable: no class has two examples in a batch, or a connection skips the first layer.
    """
    network = subject.network
    sources, position = network.layers[0]
    if preactivation and position not in sources and network.nodes[position].sources != sources:
        position = network.nodes[position].sources[0]  # the layer and its activation are two nodes
    return _error(network, subject.sample(batch * n_batches, seed), batch, position)


@measure(
    meaning="overlap of the classes times error on averages of two examples: winner of the PGDL competition",
    formula="davies_bouldin_index mixup_error",
    source=_SOURCE,
    cost="450 classes F + 1200 F up to the first convolution",
    needs=_NEEDS,
)
def dbi_mixup(subject: Subject, *, seed: int = 0) -> float:
    """`davies_bouldin_index` times `mixup_error`, with their defaults. Range: [0, inf); 0 if either is 0."""
    overlap = mean_index(subject, **MEASURES["davies_bouldin_index"].parameters | {"seed": seed})
    return overlap * midpoint_error(subject, **MEASURES["mixup_error"].parameters | {"seed": seed})


def _error(network: Network, sample: Sample, batch: int, position: int) -> float:
    """1 - mean over classes, and over the batches that have pairs of them, of the accuracy on pairs."""
    batches, first, second = _pairs(sample.labels, batch)
    if not len(first):
        raise MeasureUnavailable("needs two examples of a class, which this training set lacks")
    labels = sample.labels[first]
    right = _predicted(network, sample.inputs, first, second, position) == labels
    groups, members = np.unique(np.stack([labels, batches]), axis=1, return_inverse=True)
    accuracies = np.bincount(members, right) / np.bincount(members)
    _, classes = np.unique(groups[0], return_inverse=True)
    return 1 - float(np.mean(np.bincount(classes, accuracies) / np.bincount(classes)))


def _pairs(labels: Array, batch: int) -> tuple[Array, Array, Array]:
    """All pairs of one class within batches of consecutive examples: the batch, and the positions of both (n,).

    Pairs of a class follow each other.
    """
    found = []
    for start in range(0, len(labels), batch):
        order = np.argsort(labels[start : start + batch], kind="stable") + start
        some, others = np.nonzero(np.triu(labels[order, None] == labels[order], 1))
        found.append(np.stack([np.full(len(some), start), order[some], order[others]]))
    batches, first, second = np.concatenate(found, axis=1)
    return batches, first, second


def _predicted(network: Network, inputs: Array, first: Array, second: Array, position: int) -> Array:
    """Predicted classes (n,) of pairs whose representations at a position are averaged."""

    def run(images: Any, some: Any, others: Any) -> Any:
        halves = network.run({INPUT: images}, [position])[0] / 2
        middle = tf.gather(halves, some) + tf.gather(halves, others)
        return tf.argmax(network.run({position: middle}, [network.output])[0], axis=1, output_type=tf.int32)

    places = tf.TensorSpec((None,), tf.int64)
    plain = tf.autograph.experimental.do_not_convert(run)  # so that errors come out as they are
    compiled = network.compiled(("mixed", position), plain, network.spec(INPUT), places, places)
    predicted = []
    for start in range(0, len(first), network.batch_size):
        end = start + network.batch_size
        used, (some, others) = np.unique(np.stack([first[start:end], second[start:end]]), return_inverse=True)
        predicted.append(compiled(inputs[used], some, others).numpy())
    return np.concatenate(predicted)
