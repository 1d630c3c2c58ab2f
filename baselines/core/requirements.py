"""Checks, before a measure is computed, that the network and its training data have what the measure needs."""

from collections.abc import Collection

import numpy as np

from baselines.core.needs import MeasureUnavailable, Need
from baselines.core.sample import Array
from baselines.core.subject import Subject, shared
from baselines.network import is_linear, looks_like

#: Number of examples whose outputs are tested, because outputs may be probabilities in place of logits.
LOOKED_AT = 32

#: Layers whose inputs are indices or categories, not quantities.
_LOOKUPS = {
    "CategoryEncoding", "Discretization", "Embedding", "Hashing", "IntegerLookup", "ReversibleEmbedding",
    "StringLookup",
}  # fmt: skip


def require(subject: Subject, needs: Collection[Need]) -> None:
    """Check that network and training data have what a measure needs.

    Raises:
        MeasureUnavailable: weights are not finite, outputs are not logits of two or more classes, or inputs are tokens.
        ValueError: an input is not finite, or a label is not a class of the network.
    """
    _ = subject.weights  # raises an error if weights are not finite
    if {Need.CLASSES, Need.LABELS}.intersection(needs):
        require_classes(subject)
    if Need.QUANTITIES in needs:
        _require_quantities(subject)
    if Need.DATA in needs:
        _require_logits(subject)
    if Need.LABELS in needs:
        _require_labels(subject)


def require_classes(subject: Subject) -> None:
    """Raise `MeasureUnavailable` unless the network has at least two logits, one for each class."""
    number = subject.n_outputs
    if number < 2:
        raise MeasureUnavailable(f"needs a logit for each of two classes or more, found {number}")
    if subject.nodes.no_logits:
        raise MeasureUnavailable(subject.nodes.no_logits)


def require_unit_range(subject: Subject) -> None:
    """Raise `ValueError` unless all pixels of images are in [0, 1], as transformations of colours require."""
    inputs = subject.examples.inputs
    if inputs.ndim != 4:  # not images, which the measures refuse themselves
        return
    least, most = _extremes(subject)
    wrong = np.flatnonzero((least < 0) | (most > 1))
    if len(wrong):
        number = wrong[0]
        worst = least[number] if least[number] < 0 else most[number]
        place = tuple(map(int, np.argwhere(inputs[number] == worst)[0]))
        raise ValueError(f"dataset: example {number}: expected pixels in [0, 1], found {worst:g} at {place}")


@shared
def _extremes(subject: Subject) -> tuple[np.ndarray, np.ndarray]:
    inputs = subject.examples.inputs
    axes = tuple(range(1, inputs.ndim))
    return inputs.min(axis=axes), inputs.max(axis=axes)


def _require_quantities(subject: Subject) -> None:
    for node in subject.nodes.nodes:
        if node.kind in _LOOKUPS:
            raise MeasureUnavailable(
                f"needs inputs that are quantities, and layer {node.name} ({node.kind}) takes in numbers of tokens"
            )


def _require_logits(subject: Subject) -> None:
    if (found := _found_instead(subject)) is not None:
        raise MeasureUnavailable(
            f"needs logits, but the outputs' values are {found}: end the network with logits, or with Keras' softmax"
        )


@shared
def _found_instead(subject: Subject) -> str | None:
    # `require_classes` refuses networks with `no_logits`. Linear outputs may look like probabilities by chance.
    if subject.nodes.no_logits or is_linear(subject.nodes):
        return None
    return looks_like(subject.network.outputs(subject.examples.inputs[:LOOKED_AT])[0])


@shared
def _require_labels(subject: Subject) -> None:
    require_labels(subject.examples.labels, subject.n_outputs)


def require_labels(labels: Array, n_classes: int) -> None:
    """Raise `ValueError` if a label (n,) is not a class from 0 to `n_classes` - 1."""
    wrong = np.flatnonzero((labels < 0) | (labels >= n_classes))
    if len(wrong):
        found = f"found {labels[wrong[0]]}"
        raise ValueError(f"dataset: example {wrong[0]}: expected a label from 0 to {n_classes - 1}, {found}")
