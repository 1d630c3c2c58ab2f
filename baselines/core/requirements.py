"""Checks, before a measure is computed, that a network and its training data meet the needs of the measure."""

from collections.abc import Collection

import numpy as np

from baselines.core.needs import MeasureUnavailable, Need
from baselines.core.sample import Array
from baselines.core.subject import Subject, shared
from baselines.network import is_linear, looks_like

#: Number of examples whose outputs are tested for being logits.
LOOKED_AT = 32

#: Layers whose inputs are indices or categories, not quantities.
_LOOKUPS = {
    "CategoryEncoding", "Discretization", "Embedding", "Hashing", "IntegerLookup", "ReversibleEmbedding",
    "StringLookup",
}  # fmt: skip


def require(subject: Subject, needs: Collection[Need]) -> None:
    """Check that a subject meets the needs of a measure.

    Raises:
        MeasureUnavailable: weights are not finite, outputs are no logits of two or more classes, or inputs are tokens.
        ValueError: an input is not finite, or a label is no class of the network.
    """
    _ = subject.weights  # weights that are not finite are refused by every measure
    if {Need.CLASSES, Need.LABELS}.intersection(needs):
        require_classes(subject)
    if Need.QUANTITIES in needs:
        _require_quantities(subject)
    if Need.DATA in needs:
        _require_logits(subject)
    if Need.LABELS in needs:
        _require_labels(subject)


def require_classes(subject: Subject) -> None:
    """Raise `MeasureUnavailable` unless the network has a logit for each of at least two classes."""
    number = subject.n_outputs
    if number < 2:
        raise MeasureUnavailable(f"needs a logit for each of two classes or more, found {number}")
    if subject.nodes.no_logits:
        raise MeasureUnavailable(subject.nodes.no_logits)


def require_unit_range(subject: Subject) -> None:
    """Raise `ValueError` unless all pixels of images are in [0, 1], the range for transformations of colours."""
    inputs = subject.examples.inputs
    if inputs.ndim != 4:  # the measures themselves refuse inputs that are no images
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
    # `require_classes` reports the other networks without logits. A linear network may give such outputs by chance.
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
