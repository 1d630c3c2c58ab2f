"""Layers on inputs with the channels first, as layers on inputs with the channels last between two permutations.

Keras 2 cannot compute channels first without a GPU, and code that reads networks needs one form only.
"""

import re
from dataclasses import dataclass
from typing import Any

_SPATIAL = re.compile(
    r"(Conv|DepthwiseConv|SeparableConv|MaxPooling|AveragePooling|GlobalMaxPooling|GlobalAveragePooling|UpSampling"
    r"|ZeroPadding|Cropping)([123])D(Transpose)?"
)


@dataclass(frozen=True)
class ChannelsLast:
    """A layer with the channels last, in canonical form.

    Attributes:
        to_last: the permutation before it.
        definition: the layer.
        to_first: the permutation after it; None if its output has no axes but channels.
    """

    to_last: dict[str, Any]
    definition: dict[str, Any]
    to_first: dict[str, Any] | None


def channels_last(definition: dict[str, Any]) -> ChannelsLast | None:
    """Return a layer on channels first as one on channels last; None for any other layer."""
    class_name, config = definition["class_name"], definition["config"]
    match = _SPATIAL.fullmatch(class_name)
    if match is None or config.get("data_format") != "channels_first":
        return None
    axes = range(1, int(match[2]) + 2)  # channels, then places
    has_places = not class_name.startswith("Global") or bool(config.get("keepdims"))
    return ChannelsLast(
        _permutation([*axes[1:], axes[0]]),
        {"class_name": class_name, "config": {**config, "data_format": "channels_last"}},
        _permutation([axes[-1], *axes[:-1]]) if has_places else None,
    )


def _permutation(dims: list[int]) -> dict[str, Any]:
    return {"class_name": "Permute", "config": {"dims": dims}}
