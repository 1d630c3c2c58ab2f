"""What the outputs of a network are: logits, or probabilities, or their logarithms.

The library of measures finds the same in a model (`baselines/network/output.py`); a test compares both.
"""

import math
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any

from harness.format.layer_settings import TRAINING_ONLY
from harness.format.layer_shapes import shapes_of
from harness.format.writer import HARD_SIGMOID_OF_KERAS_2

#: Layers that pass on the numbers that they take in, perhaps in another arrangement.
_PASSING = TRAINING_ONLY.keys() | {"Flatten", "Identity", "Permute", "Reshape"}

#: Layers that make something new of what they take in.
_WEIGHTY = {"Dense", "EinsumDense", "Embedding", "MultiHeadAttention"}
_WEIGHTY_BEGINNINGS = ("Conv", "DepthwiseConv", "SeparableConv")

#: Activations that give probabilities or their logarithms.
_PROBABILITIES = {
    "hard_sigmoid", HARD_SIGMOID_OF_KERAS_2, "log_sigmoid", "log_softmax", "sigmoid", "softmax", "sparse_sigmoid",
    "sparsemax",
}  # fmt: skip

#: Layers of a canonical form (`harness.format.architecture`).
Layers = Sequence[Mapping[str, Any]]


class Output(StrEnum):
    """The outputs of a network, for readers."""

    LOGITS = "logits"
    PROBABILITIES = "probabilities"  #: of a softmax over all classes
    LOG_PROBABILITIES = "log-probabilities"  #: of a log-softmax
    NO_LOGITS = (
        "probabilities without logits"  #: of sigmoids, or of a softmax that is not the end or not over all classes
    )


def final_softmax(layers: Layers, input_shape: Sequence[int]) -> dict[str, int]:
    """Return the entry `softmax` of a canonical form; nothing if there is none, or if its layer is called twice.

    It is the position of a softmax over all outputs, and likewise of a log-softmax or the sigmoid of a single output.
    """
    position = _last_computing(layers, len(layers) - 1)
    is_shared = any("layer" in entry and position in (i, entry["layer"]) for i, entry in enumerate(layers))
    return {"softmax": position} if not is_shared and _is_of_all(layers, input_shape, position) else {}


def output_of(architecture: Mapping[str, Any]) -> Output:
    """Return what the outputs of a canonical form are."""
    layers = architecture["layers"]
    if (end := architecture.get("softmax")) is not None:
        return Output.LOG_PROBABILITIES if _activation(layers, end) == "log_softmax" else Output.PROBABILITIES
    return Output.NO_LOGITS if _are_probabilities(layers) else Output.LOGITS


def _are_probabilities(layers: Layers) -> bool:
    """Whether the outputs are computed of nothing but probabilities; a gate's are multiplied by something else."""
    found: dict[int, bool] = {-1: False}
    for position in range(len(layers)):
        parts = [found[source] for source in _inputs(layers, position)]
        together = any if _class_name(layers, position) == "Concatenate" else all
        found[position] = _activation(layers, position) in _PROBABILITIES or (
            not _is_weighty(layers, position) and together(parts)
        )
    return found[len(layers) - 1]


def _is_of_all(layers: Layers, input_shape: Sequence[int], position: int) -> bool:
    """Whether a layer ends with one distribution of all outputs, be it a sigmoid of one output."""
    name = _activation(layers, position)
    if name not in ("softmax", "log_softmax", "sigmoid"):
        return False
    shape = shapes_of(layers, input_shape)[position]
    if shape is None:
        return False
    axes = [] if name == "sigmoid" else _definition(layers, position)["config"].get("axis", -1)
    lengths: list[int] = [
        shape[axis if axis < 0 else axis - 1] for axis in (axes if isinstance(axes, list) else [axes])
    ]
    return math.prod(lengths) == math.prod(shape)


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
