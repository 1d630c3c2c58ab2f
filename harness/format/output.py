"""What the outputs of a network are: logits, or probabilities."""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any

from harness.format.layers import TRAINING_ONLY

#: Layers that pass on the numbers that they take in, perhaps in another arrangement.
_PASSING = TRAINING_ONLY.keys() | {"Flatten", "Identity", "Permute", "Reshape"}

#: Layers that combine several inputs.
_COMBINING = {"Add", "Average", "Concatenate", "Maximum", "Minimum", "Multiply", "Subtract"}

_PROBABILITIES = ("hard_sigmoid", "sigmoid", "softmax")

#: Layers of a canonical form (`harness.format.architecture`).
Layers = Sequence[Mapping[str, Any]]


class Output(StrEnum):
    """The outputs of a network, for readers."""

    LOGITS = "logits"
    PROBABILITIES = "probabilities"  #: of a softmax
    NO_LOGITS = "probabilities without logits"  #: of a sigmoid, or combined from those of several softmaxes


def final_softmax(layers: Layers) -> dict[str, int]:
    """Return the entry `softmax` of a canonical form; nothing if there is none, or if its layer is called twice."""
    position = _last_computing(layers, len(layers) - 1)
    is_shared = any("layer" in entry and position in (i, entry["layer"]) for i, entry in enumerate(layers))
    return {"softmax": position} if _activation(layers, position) == "softmax" and not is_shared else {}


def output_of(layers: Layers) -> Output:
    """Return what the outputs of the layers of a canonical form are."""
    if final_softmax(layers):
        return Output.PROBABILITIES
    pending = [len(layers) - 1]
    while pending:
        position = _last_computing(layers, pending.pop())
        if position < 0:
            continue
        if _activation(layers, position) in _PROBABILITIES:
            return Output.NO_LOGITS
        if _class_name(layers, position) in _COMBINING:
            pending += layers[position]["inputs"]
    return Output.LOGITS


def _last_computing(layers: Layers, position: int) -> int:
    """The position of the last layer that computes something, on the way to the output of a layer; -1: the input."""
    while position >= 0 and _is_passing(layers, position):
        position = layers[position].get("inputs", [position - 1])[0]
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
