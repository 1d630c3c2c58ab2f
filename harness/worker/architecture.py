"""Builds the Keras model of an architecture in the harness' canonical form, in Keras 2 and Keras 3 alike.

The form is written by the harness and holds nothing but built-in layers and plain settings:

* `{"format": "layers", "input_shape": [...], "layers": [{"class_name", "config"}, ...]}`, a `Sequential` model,
* `{"format": "graph", "input_shape": [...], "layers": [{"class_name", "config", "inputs"}, ...]}`, a functional
  model: `inputs` are positions in `layers`, -1 being the model's input; the last layer's output is the model's.
"""

from collections.abc import Sequence
from typing import Any

import tensorflow as tf


class ArchitectureError(ValueError):
    """Keras refuses the architecture; the message is one line that names the layer."""


def build_model(architecture: dict[str, Any]) -> Any:
    """Build the model; the order of its layers, and hence of its weights, is that of the architecture.

    Raises:
        ArchitectureError: Keras refuses a layer.
    """
    source = tf.keras.Input(shape=tuple(architecture["input_shape"]))
    if architecture["format"] == "layers":
        model = tf.keras.Sequential([source])
        for position, layer in enumerate(architecture["layers"]):
            _call(position, layer, model.add)
        return model
    return _functional_model(source, architecture["layers"])


def _functional_model(source: Any, layers: Sequence[dict[str, Any]]) -> Any:
    tensors: list[Any] = [source]  # shifted by one: position -1 is the input
    for position, layer in enumerate(layers):
        feeding = [tensors[other + 1] for other in layer["inputs"]]
        arguments = feeding[0] if len(feeding) == 1 else feeding
        tensors.append(_call(position, layer, lambda built, arguments=arguments: built(arguments)))
    return tf.keras.Model(source, tensors[-1])


def _call(position: int, layer: dict[str, Any], connect: Any) -> Any:
    """Make the layer and connect it; say which one it was if Keras refuses."""
    try:
        return connect(_make(layer["class_name"], layer["config"]))
    except (ValueError, TypeError, KeyError, tf.errors.OpError) as error:
        message = " ".join(str(error).split())[:300]
        raise ArchitectureError(f"layer {position} ({layer['class_name']}): {message}") from error


def _make(class_name: str, config: dict[str, Any]) -> Any:
    make = getattr(tf.keras.layers, class_name)
    if class_name == "LeakyReLU" and "negative_slope" in config:
        return make(config["negative_slope"])  # Keras 2 calls it alpha
    return make(**config)
