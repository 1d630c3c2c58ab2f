"""What the outputs of a network are: logits, or probabilities, or their logarithms.

The library of measures finds the same in a model (`baselines/network/output.py`).
"""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any

from harness.format.layers import TRAINING_ONLY

#: Layers that pass on the numbers that they take in, perhaps in another arrangement.
_PASSING = TRAINING_ONLY.keys() | {"Flatten", "Identity", "Permute", "Reshape"}

#: Layers that make something new of what they take in.
_WEIGHTY = {"Dense", "EinsumDense", "Embedding", "MultiHeadAttention"}
_WEIGHTY_BEGINNINGS = ("Conv", "DepthwiseConv", "SeparableConv")

#: Activations that give probabilities or their logarithms; those of the first two can be taken off.
_PROBABILITIES = (
    "softmax", "log_softmax", "hard_sigmoid", "log_sigmoid", "sigmoid", "sparse_sigmoid", "sparsemax",
)  # fmt: skip

#: Layers of a canonical form (`harness.format.architecture`).
Layers = Sequence[Mapping[str, Any]]


class Output(StrEnum):
    """The outputs of a network, for readers."""

    LOGITS = "logits"
    PROBABILITIES = "probabilities"  #: of a softmax
    LOG_PROBABILITIES = "log-probabilities"  #: of a log-softmax
    NO_LOGITS = "probabilities without logits"  #: of sigmoids, or of a softmax that is not the end


def final_softmax(layers: Layers) -> dict[str, int]:
    """Return the entry `softmax` of a canonical form; nothing if there is none, or if its layer is called twice.

    It is the position of a log-softmax, too, which is taken off alike.
    """
    position = _last_computing(layers, len(layers) - 1)
    is_shared = any("layer" in entry and position in (i, entry["layer"]) for i, entry in enumerate(layers))
    return {"softmax": position} if _activation(layers, position) in _PROBABILITIES[:2] and not is_shared else {}


def output_of(layers: Layers) -> Output:
    """Return what the outputs of the layers of a canonical form are."""
    if end := final_softmax(layers):
        is_log = _activation(layers, end["softmax"]) == "log_softmax"
        return Output.LOG_PROBABILITIES if is_log else Output.PROBABILITIES
    pending, seen = [len(layers) - 1], set[int]()
    while pending:
        position = pending.pop()
        if position < 0 or position in seen:
            continue
        seen.add(position)
        if _activation(layers, position) in _PROBABILITIES:
            return Output.NO_LOGITS
        if not _is_weighty(layers, position):
            pending += _inputs(layers, position)
    return Output.LOGITS


def _is_weighty(layers: Layers, position: int) -> bool:
    name = _class_name(layers, position)
    return name in _WEIGHTY or name.startswith(_WEIGHTY_BEGINNINGS)


def _inputs(layers: Layers, position: int) -> list[int]:
    found: list[int] = layers[position].get("inputs", [position - 1])
    return found


def _last_computing(layers: Layers, position: int) -> int:
    """The position of the last layer that computes something, on the way to the output of a layer; -1: the input."""
    while position >= 0 and _is_passing(layers, position):
        position = _inputs(layers, position)[0]
    return position


def _is_passing(layers: Layers, position: int) -> bool:
    is_linear = _class_name(layers, position) == "Activation" and _activation(layers, position) == "linear"
    return is_linear or _class_name(layers, position) in _PASSING


def _activation(layers: Layers, position: int) -> str | None:
    """The activation with which a layer ends."""
    if position < 0:
        return None
    definition = _definition(layers, position)
    return "softmax" if definition["class_name"] == "Softmax" else definition["config"].get("activation")


def _class_name(layers: Layers, position: int) -> str:
    return str(_definition(layers, position)["class_name"])


def _definition(layers: Layers, position: int) -> Mapping[str, Any]:
    return layers[layers[position].get("layer", position)]
