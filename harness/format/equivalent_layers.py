"""Replaces operations by equivalent layers, and channels-first layers by channels-last layers.

Keras 3 writes operations such as `x + y` among the layers of a functional model. Keras 2 can compute channels-first
layers only on a GPU, so such a layer becomes a channels-last layer between two permutations.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

#: Modules in which Keras 3 defines `x + y`, the functions of `keras.ops`, and `keras.activations.relu`.
_OF_ARRAYS, _OPERATIONS, _RELU = "keras.src.ops.numpy", "keras.src.ops.", "keras.src.activations.activations"

#: Operations of two arrays. For arrays with equally many axes, the layer of the same name computes the same.
MERGES = ("Add", "Maximum", "Minimum", "Multiply", "Subtract")

#: Name of an operation -> equivalent layer with the same settings.
_LAYERS = {"Elu": "ELU", "LeakyRelu": "LeakyReLU", "ReLU": "ReLU", "Softmax": "Softmax"}

#: Name of an operation -> equal activation of both Keras 2 and Keras 3, and settings that the operation must have.
_ACTIVATIONS: dict[str, tuple[str, dict[str, Any]]] = {
    "Exp": ("exponential", {}),
    "Gelu": ("gelu", {"approximate": False}),
    "LogSoftmax": ("log_softmax", {"axis": -1}),
    **{
        name: (name.lower(), {})
        for name in ("Relu", "Relu6", "Selu", "Sigmoid", "Silu", "Softplus", "Softsign", "Tanh")
    },
    "HardSigmoid": ("hard_sigmoid", {}),
}


def is_operation(layer: Mapping[str, Any]) -> bool:
    """Whether an entry of a model's layers is an operation, such as `x + y` or `keras.ops.relu(x)`.

    The `module` of an entry tells operations from layers. Entries in HDF5 files have no module. There, an entry with
    the class of an activation is an operation if it has no setting `trainable`.
    """
    module = layer.get("module")
    if module is None:
        return layer["class_name"] in (*_LAYERS, *_ACTIVATIONS) and "trainable" not in layer["config"]
    return str(module).startswith(_OPERATIONS) or module == _RELU


def as_layer(layer: Mapping[str, Any]) -> Mapping[str, Any]:
    """Replace an operation by an equivalent layer if there is such a layer; return any other entry unchanged."""
    name, config = layer["class_name"], layer["config"]
    if not is_operation(layer) or (name in MERGES and layer["module"] != _OF_ARRAYS):
        return layer
    if name in _ACTIVATIONS:
        activation, settings = _ACTIVATIONS[name]
        is_same = {**settings, "name": config["name"]} == config
        name, config = "Activation", {"name": config["name"], "activation": activation}
    else:
        is_same = name in MERGES or name in _LAYERS
        name = _LAYERS.get(name, name)
    changed = {"class_name": name, "config": config, "module": "keras.layers", "registered_name": None}
    return {**layer, **changed} if is_same else layer


_SPATIAL = re.compile(
    r"(Conv|DepthwiseConv|SeparableConv|MaxPooling|AveragePooling|GlobalMaxPooling|GlobalAveragePooling|UpSampling"
    r"|ZeroPadding|Cropping)([123])D(Transpose)?"
)


@dataclass(frozen=True)
class ChannelsLast:
    """A layer with the channels last between two permutations, each in canonical form."""

    to_last: dict[str, Any]  #: the first permutation
    definition: dict[str, Any]  #: the layer
    to_first: dict[str, Any] | None  #: the second permutation; None if channels are the only axis of the output


def channels_last(definition: dict[str, Any]) -> ChannelsLast | None:
    """Return the layers that are equivalent to a channels-first layer; None for any other layer."""
    class_name, config = definition["class_name"], definition["config"]
    match = _SPATIAL.fullmatch(class_name)
    if match is None or config.get("data_format") != "channels_first":
        return None
    axes = range(1, int(match[2]) + 2)  # channels, then spatial axes
    has_places = not class_name.startswith("Global") or bool(config.get("keepdims"))
    # ZeroPadding1D of Keras 2 has no such setting: its channels are always last
    order = {} if class_name == "ZeroPadding1D" else {"data_format": "channels_last"}
    others = {name: value for name, value in config.items() if name != "data_format"}
    return ChannelsLast(
        _permutation([*axes[1:], axes[0]]),
        {"class_name": class_name, "config": {**others, **order}},
        _permutation([axes[-1], *axes[:-1]]) if has_places else None,
    )


def _permutation(dims: list[int]) -> dict[str, Any]:
    return {"class_name": "Permute", "config": {"dims": dims}}
