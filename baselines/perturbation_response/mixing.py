"""How a network's accuracy falls when training examples are mixed with others.

Layer 0 is the input, layer 1 the first hidden layer, its normalization and activation included, however many layers of
the model that is (`first_hidden`). Mixing behind linear layers alone would be mixing inputs.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from baselines.core.lazy import tf
from baselines.core.needs import MeasureUnavailable
from baselines.core.sample import Array, Sample
from baselines.core.streams import stream
from baselines.core.subject import Subject, shared
from baselines.network import INPUT, Network
from baselines.network.hidden import first_hidden
from baselines.perturbation_response.response_curve import accuracies_of, grid

#: Pairs of examples that are gathered in memory at once.
GATHERED = 1024

#: Whom an example is mixed with, and which layer's outputs are mixed; layer 0 is the input.
CURVES = [(kind, layer) for kind in ("inter", "intra") for layer in (0, 1)]


def is_right(
    network: Network, change: Callable[..., Any], inputs: Sequence[Array], labels: Array, magnitudes: Array,
    position: int = INPUT,
) -> Array:  # fmt: skip
    """Tell for each example and each of its magnitudes whether the network's answer is right.

    Args:
        network: the network.
        change: a function of magnitudes (N,) and of tensors (N, ...) at `position`, as many as there are
            inputs; returns (N, ...).
        inputs: arrays (n, ...) that the network takes in.
        labels: right answers (n,).
        magnitudes: (n, k).
        position: where the change happens.

    Returns:
        (n, k), bool.
    """
    number = magnitudes.shape[1]
    size = max(network.batch_size // number, 1)
    right = []
    for batch in (slice(i, i + size) for i in range(0, len(labels), size)):
        found = np.concatenate([array[batch] for array in inputs])
        if position != INPUT:
            found = network.outputs(found, [position], often=True)[0]
        repeated = np.split(np.repeat(found, number, axis=0), len(inputs))
        changed = change(tf.constant(magnitudes[batch].reshape(-1), tf.float32), *map(tf.constant, repeated))
        answers = network.outputs(changed.numpy(), start=position, often=True)[0]
        right.append(answers.argmax(axis=1).reshape(-1, number) == labels[batch, None])
    return np.concatenate(right)


def partners(labels: Array, kind: str, rng: np.random.Generator) -> tuple[Array, Array]:
    """Draw another example of the same class ("intra") or of a different class ("inter") for every example.

    Returns:
        Positions of the examples that have such a partner, and of their partners.
    """
    order = np.argsort(labels, kind="stable")
    _, classes, counts = np.unique(labels[order], return_inverse=True, return_counts=True)
    first, size = (np.cumsum(counts) - counts)[classes], counts[classes]
    choices = size - 1 if kind == "intra" else len(labels) - size
    has = choices > 0
    if not has.any():
        found = "two examples of a class" if kind == "intra" else "examples of two classes"
        raise MeasureUnavailable(f"needs {found}, which this training set lacks")
    step = rng.integers(np.where(has, choices, 1))
    rank = np.arange(len(labels)) - first
    # Around the class from the example on, or around all others from the end of its class on.
    other = first + (rank + 1 + step) % size if kind == "intra" else (first + size + step) % len(labels)
    return order[has], order[other[has]]


def _mix(shares: Any, some: Any, others: Any) -> Any:
    shares = tf.reshape(shares, [-1] + [1] * (len(some.shape) - 1))
    return some + shares * (others - some)


@shared
def mixup_curve(
    subject: Subject, kind: str, layer: int, n_alphas: int, n_samples: int, seed: int
) -> tuple[Array, Array]:
    """Mix examples with partners until there are `n_samples` pairs, see `mixup_responses` for what is done to a pair.

    One pass takes up to `n_samples` examples. Where there are fewer, they are passed over again, with new partners each
    time; passes are whole, so that every example counts alike, and there may be more pairs than asked for.

    Returns:
        The shares (k,), and the accuracies at them (k,), fractions.
    """
    shares = _shares(kind, n_alphas)
    sample = subject.sample(n_samples, seed, by_class=True)
    passes = [partners(sample.labels, kind, _draws(seed, 0))]
    while len(subject.examples) < n_samples > len(passes) * len(passes[0][0]):
        passes.append(partners(sample.labels, kind, _draws(seed, len(passes))))
    pairs: Array = np.concatenate(passes, axis=1)
    hits = np.zeros(n_alphas, int)
    for right in _responses(subject, layer, sample, pairs, shares):
        hits += right.sum(axis=0)
    return shares, accuracies_of(hits, pairs.shape[1])


def mixup_responses(
    subject: Subject, kind: str, layer: int, n_alphas: int, n_samples: int, seed: int
) -> tuple[Array, Array]:
    """Mix examples x with partners x' as (1 - a) x + a x'.

    Partners within a class go up to half and half, partners of other classes do not quite; the label is that
    of x. Each example has one partner for all shares. An example is left out of the curve within
    classes if its class has no other example.

    Returns:
        The shares a (k,), and whether the network is right (n, k) about each drawn example at each of them.
    """
    shares = _shares(kind, n_alphas)
    sample = subject.sample(n_samples, seed, by_class=True)
    pairs = partners(sample.labels, kind, _draws(seed, 0))
    return shares, np.concatenate(list(_responses(subject, layer, sample, pairs, shares)))


def _draws(seed: int, number: int) -> np.random.Generator:
    """Random numbers for the partners of a pass."""
    return stream("partners of mixing", seed, number)


def _shares(kind: str, n_alphas: int) -> Array:
    return grid(0, 0.5, n_alphas, endpoint=kind == "intra")


def _responses(
    subject: Subject, layer: int, sample: Sample, pairs: Array | tuple[Array, Array], shares: Array
) -> Iterator[Array]:
    """Whether the network is right about mixed pairs, at each share: parts (n, k) of `GATHERED` pairs or fewer."""
    network = subject.network
    position = INPUT if layer == 0 else first_hidden(network)
    for start in range(0, len(pairs[0]), GATHERED):
        some, others = (members[start : start + GATHERED] for members in pairs)
        mixed = sample.inputs[some], sample.inputs[others]
        repeated = np.broadcast_to(shares, (len(some), len(shares)))
        yield is_right(network, _mix, mixed, sample.labels[some], repeated, position)
