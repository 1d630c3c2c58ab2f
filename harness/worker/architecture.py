"""Builds the Keras model of an architecture in the harness' canonical form, in Keras 2 and Keras 3 alike.

The harness writes this form, which contains only built-in layers and plain settings:

* `{"format": "layers", "input_shape": [...], "layers": [{"class_name", "config"}, ...]}`, a Sequential model,
* `{"format": "graph", "input_shape": [...], "layers": [{"class_name", "config", "inputs"}, ...]}`, a model of
  the functional kind: `inputs` are positions in `layers`, -1 being the model's input; the last layer's output
  is the model's. `{"layer", "inputs"}` calls the layer at an earlier position again; `keywords`, if present, are
  arguments passed by name: positions, true or false.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import tensorflow as tf

#: Errors that Keras raises for unsupported settings and shapes.
_REFUSALS = (ValueError, TypeError, KeyError, OverflowError, RecursionError, tf.errors.OpError)


class ArchitectureError(ValueError):
    """Keras rejects the architecture; the message is one line that names the layer."""


def build_model(architecture: dict[str, Any]) -> Any:
    """Build the model, with its layers, and hence its weights, in the order of the architecture.

    Raises:
        ArchitectureError: Keras rejects a layer.
    """
    source = tf.keras.Input(shape=tuple(architecture["input_shape"]))
    layers = architecture["layers"]
    return _sequential(source, layers) if architecture["format"] == "layers" else _functional(source, layers)


def _sequential(source: Any, definitions: Sequence[dict[str, Any]]) -> Any:
    try:
        return tf.keras.Sequential([source, *(_make(d["class_name"], d["config"]) for d in definitions)])
    except _REFUSALS:  # once more, layer by layer, to find the one that Keras rejects
        model = tf.keras.Sequential([source])
        for position, definition in enumerate(definitions):
            with _refusing(position, definition):
                model.add(_make(definition["class_name"], definition["config"]))
        raise


def _functional(source: Any, definitions: Sequence[dict[str, Any]]) -> Any:
    called: list[Any] = []
    tensors = [source]  # shifted by one: position -1 is the input
    for position, definition in enumerate(definitions):
        feeding = [tensors[other + 1] for other in definition["inputs"]]
        keywords = {
            name: value if isinstance(value, bool) else tensors[value + 1]
            for name, value in definition.get("keywords", {}).items()
        }
        first = definitions[definition.get("layer", position)]
        with _refusing(position, first):
            layer = _make(first["class_name"], first["config"]) if first is definition else called[definition["layer"]]
            tensors.append(layer(feeding[0] if len(feeding) == 1 else feeding, **keywords))
        called.append(layer)
    model = tf.keras.Model(source, tensors[-1])
    made = list({id(layer): layer for layer in called}.values())
    if any(layer is not other for layer, other in zip(model.layers[1:], made, strict=True)):
        raise RuntimeError(
            "Keras lists the layers in another order than the architecture, so weights would be mixed up"
        )
    return model


@contextmanager
def _refusing(position: int, definition: dict[str, Any]) -> Iterator[None]:
    """Name the layer if Keras rejects it."""
    try:
        yield
    except _REFUSALS as error:
        message = " ".join(str(error).split())[:300]
        raise ArchitectureError(f"layer {position} ({definition['class_name']}): {message}") from error


def _make(class_name: str, config: dict[str, Any]) -> Any:
    make = getattr(tf.keras.layers, class_name)
    if class_name == "LeakyReLU" and "negative_slope" in config:
        return make(config["negative_slope"])  # Keras 2 calls it alpha
    return make(**config)
