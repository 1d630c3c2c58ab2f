"""Finds the version of Keras that wrote an architecture, and handles differences between Keras 2 and Keras 3.

Keras 2 and Keras 3 define some functions differently, and treat masks differently. A mask makes layers ignore positions
of a sequence; `Embedding(mask_zero=True)` creates a mask.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harness.errors import UserError
from harness.format.layer_settings import TRAINING_ONLY

#: The key under which a file states the version of Keras that wrote it.
VERSION = "keras_version"

#: Canonical name of clip(x / 5 + 1 / 2, 0, 1). The name `hard_sigmoid` means relu6(x + 3) / 6, as in Keras 3.
HARD_SIGMOID_OF_KERAS_2 = "hard_sigmoid_of_keras_2"

#: First versions of Keras 2 that compute bilinear interpolation, and attention with a mask, as later versions do.
_HALF_PIXELS, _MASKED_ATTENTION = (2, 4), (2, 10)


@dataclass(frozen=True)
class Writer:
    """The version of Keras that wrote an architecture."""

    major: int | None = None  #: 2 or 3; None if not known
    minor: int | None = None  #: second number of the version; None if the file states no version
    text: str = ""  #: the version in the file, such as `2.2.4-tf`

    def is_before(self, version: tuple[int, int]) -> bool:
        """Whether this version is older than `version`; False if the file that Keras wrote states no version."""
        return self.major is not None and self.minor is not None and (self.major, self.minor) < version


UNKNOWN = Writer()


def writer_of(content: Mapping[str, Any]) -> Writer:
    """Return the version of Keras that wrote a config.json; `UNKNOWN` if the file does not show it.

    If the file states no version, the key `batch_input_shape` means Keras 2, and `batch_shape` Keras 3.
    """
    text = content.get(VERSION)
    if isinstance(text, str) and (match := re.match(r"(\d+)\.(\d+)", text)):
        return Writer(3 if int(match[1]) >= 3 else 2, int(match[2]), text)
    pending: list[Any] = [content]
    while pending:
        value = pending.pop()
        if isinstance(value, list):
            pending += value
        elif isinstance(value, dict):
            for word, major in (("batch_input_shape", 2), ("batch_shape", 3)):
                if word in value:
                    return Writer(major)
            pending += value.values()
    return UNKNOWN


def named_exactly(class_name: str, settings: dict[str, Any], writer: Writer) -> dict[str, Any]:
    """Return a layer's settings, changed so that every runtime computes the same as Keras in the version `writer`.

    Raises `UserError` if the computation depends on the version of Keras and `writer` is unknown, or if no later Keras
    computes the same.
    """
    if settings.get("activation") == "hard_sigmoid" and _is_of_keras_2("activation", "'hard_sigmoid'", writer):
        settings = {**settings, "activation": HARD_SIGMOID_OF_KERAS_2}
    dilation = settings.get("dilation_rate", 1) if class_name == "Conv3DTranspose" else 1
    is_dilated = any(one != 1 for one in (dilation if isinstance(dilation, list) else [dilation]))
    if is_dilated and _is_of_keras_2("dilation_rate", str(dilation), writer):
        settings = {**settings, "dilation_rate": 1}  # Keras 2 stores the rate, but ignores it
    if settings.get("interpolation") == "bilinear" and writer.is_before(_HALF_PIXELS) and writer.text != "2.3.0-tf":
        expected = "'nearest', or a model of Keras 2.4 or later"
        found = f"'bilinear' of Keras {writer.text}, which puts pixels elsewhere"
        raise UserError("interpolation", expected=expected, found=found)
    return settings


def _is_of_keras_2(setting: str, found: str, writer: Writer) -> bool:
    if writer.major is None:
        remedy = 'state the version that wrote it beside the layers, as "keras_version": "2.15.0" or "3.0.0"'
        problem = f"{found}, which Keras 2 and Keras 3 define differently"
        raise UserError(setting, expected="the version of Keras", found=problem, remedy=remedy)
    return writer.major == 2


_MERGING = {"Add", "Average", "Concatenate", "Maximum", "Minimum", "Multiply", "Subtract"}

#: Layers that pass a mask on, in both Keras 2 and Keras 3. All layers outside `_PASSING` and `_UNLIKE` end a mask.
_PASSING = {
    "Activation", "BatchNormalization", "Dense", "ELU", "LayerNormalization", "LeakyReLU", "MultiHeadAttention",
    "PReLU", "ReLU", "Softmax", "UnitNormalization", *_MERGING, *TRAINING_ONLY,
}  # fmt: skip

#: Layers that pass a mask on only in Keras 3, or that fail with a mask in some versions.
_UNLIKE = {"GroupNormalization", "Identity", "Rescaling"}


def require_same_masks(layers: Sequence[Mapping[str, Any]], writer: Writer) -> None:
    """Raise `UserError` if a canonical layer in `layers` gets a mask that versions of Keras treat differently."""
    masked: dict[int, bool] = {-1: False}
    for position, entry in enumerate(layers):
        definition = layers[entry.get("layer", position)]
        name = definition["class_name"]
        reached = [masked[source] for source in entry.get("inputs", [position - 1])]
        if any(reached):
            mixed = name in _MERGING and not all(reached)
            if mixed or name in _UNLIKE or (name == "MultiHeadAttention" and writer.is_before(_MASKED_ATTENTION)):
                found = f"a mask that reaches layer {position} ({name}){', but not all of its inputs' if mixed else ''}"
                remedy = "not all versions of Keras compute the same with it"
                raise UserError("mask_zero", expected="false", found=found, remedy=remedy)
        masked[position] = (any(reached) and name in _PASSING) or bool(definition["config"].get("mask_zero"))
