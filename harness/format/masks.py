"""Masks: `Embedding(mask_zero=True)` tells the layers behind it to leave places out, and not all Keras agree how."""

from collections.abc import Mapping, Sequence
from typing import Any

from harness.errors import UserError
from harness.format.layer_settings import TRAINING_ONLY
from harness.format.writer import Writer, attends_to_masks

_MERGING = {"Add", "Average", "Concatenate", "Maximum", "Minimum", "Multiply", "Subtract"}

#: Layers that pass a mask on in Keras 2 and in Keras 3. Any layer outside this set and `_UNLIKE` ends the mask in both
#: versions.
_PASSING = {
    "Activation", "BatchNormalization", "Dense", "ELU", "LayerNormalization", "LeakyReLU", "MultiHeadAttention",
    "PReLU", "ReLU", "Softmax", "UnitNormalization", *_MERGING, *TRAINING_ONLY,
}  # fmt: skip

#: Layers that pass a mask on in Keras 3 only, or that fail with a mask in some versions.
_UNLIKE = {"GroupNormalization", "Identity", "Rescaling"}


def require_same_masks(layers: Sequence[Mapping[str, Any]], writer: Writer) -> None:
    """Raise `UserError` if a mask reaches a layer that does something else with it in another Keras.

    Args:
        layers: of a canonical form.
        writer: the Keras that wrote the model.
    """
    masked: dict[int, bool] = {-1: False}
    for position, entry in enumerate(layers):
        definition = layers[entry.get("layer", position)]
        name = definition["class_name"]
        reached = [masked[source] for source in entry.get("inputs", [position - 1])]
        if any(reached):
            mixed = name in _MERGING and not all(reached)
            if mixed or name in _UNLIKE or (name == "MultiHeadAttention" and not attends_to_masks(writer)):
                found = f"a mask that reaches layer {position} ({name}){', but not all of its inputs' if mixed else ''}"
                remedy = "not all versions of Keras compute the same with it"
                raise UserError("mask_zero", expected="false", found=found, remedy=remedy)
        masked[position] = (any(reached) and name in _PASSING) or bool(definition["config"].get("mask_zero"))
