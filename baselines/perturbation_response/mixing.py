"""Accuracy of a network on training examples mixed in the input (layer 0) or in the first hidden layer (layer 1)."""

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

#: Maximum number of pairs of examples in memory.
GATHERED = 1024

#: Class of an example's partner ("inter": another, "intra": the same), and the layer whose outputs are mixed.
CURVES = [(kind, layer) for kind in ("inter", "intra") for layer in (0, 1)]


def is_right(
    network: Network, change: Callable[..., Any], inputs: Sequence[Array], labels: Array, magnitudes: Array,
    position: int = INPUT,
) -> Array:  # fmt: skip
    """Return whether each example is classified correctly at each of its `magnitudes` (n, k), as an array (n, k).

    `inputs` holds arrays (n, ...), `labels` (n,) true classes. The network runs on each array up to `position`. There,
    `change` takes N magnitudes (N,) and the values (N, ...) of each array, and returns perturbed values (N, ...), with
    which the network continues.
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
    """Draw a partner for each example: another example of its class ("intra") or of a different class ("inter").

    Return positions (n,) of the examples for which a partner exists, and positions (n,) of the partners.
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
    # Cyclic steps behind the example within its class, or behind the last example of its class through all others.
    other = first + (rank + 1 + step) % size if kind == "intra" else (first + size + step) % len(labels)
    return order[has], order[other[has]]


def _mix(shares: Any, some: Any, others: Any) -> Any:
    shares = tf.reshape(shares, [-1] + [1] * (len(some.shape) - 1))
    return some + shares * (others - some)


@shared
def mixup_curve(
    subject: Subject, kind: str, layer: int, n_alphas: int, n_samples: int, seed: int
) -> tuple[Array, Array]:
    """Return the shares (k,) of `mixup_responses`, and accuracies (k,), as `Fraction`s, on `n_samples` or more pairs.

    If the training set has fewer examples, each example has several partners, the same number for all.
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
    """Return shares a (k,), and whether (1 - a) x + a x' is assigned to the class of x, for n pairs x, x': (n, k).

    Shares are equidistant from 0 to 1/2; for partners x' of other classes ("inter"), 1/2 is left out. Each example x
    has the same partner at all shares. Examples without a possible partner are left out.
    """
    shares = _shares(kind, n_alphas)
    sample = subject.sample(n_samples, seed, by_class=True)
    pairs = partners(sample.labels, kind, _draws(seed, 0))
    return shares, np.concatenate(list(_responses(subject, layer, sample, pairs, shares)))


def _draws(seed: int, number: int) -> np.random.Generator:
    return stream("partners of mixing", seed, number)


def _shares(kind: str, n_alphas: int) -> Array:
    return grid(0, 0.5, n_alphas, endpoint=kind == "intra")


def _responses(
    subject: Subject, layer: int, sample: Sample, pairs: Array | tuple[Array, Array], shares: Array
) -> Iterator[Array]:
    network = subject.network
    position = INPUT if layer == 0 else first_hidden(network)
    for start in range(0, len(pairs[0]), GATHERED):
        some, others = (members[start : start + GATHERED] for members in pairs)
        mixed = sample.inputs[some], sample.inputs[others]
        repeated = np.broadcast_to(shares, (len(some), len(shares)))
        yield is_right(network, _mix, mixed, sample.labels[some], repeated, position)
