"""Builds a Keras model from its architecture in canonical form, with Keras 2 or with Keras 3 on any framework.

The harness writes the canonical form, which has only built-in layers and plain settings. harness/format/architecture.py
describes it.
"""

import functools
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from harness.worker.hard_sigmoids import HARD_SIGMOIDS, hard_sigmoid

#: Layers that change images unless they are called with `training=False`.
AUGMENTING = (
    "RandomBrightness", "RandomContrast", "RandomFlip", "RandomRotation", "RandomTranslation", "RandomZoom",
)  # fmt: skip


class ArchitectureError(ValueError):
    """Keras rejects the architecture. The message is one line with the name of the layer."""


def build_model(architecture: dict[str, Any], keras: Any) -> Any:
    """Return the model of an architecture; its layers and weights are in the order of the architecture.

    Layers that augment images return their input unchanged, even in training mode or in a copy of the model. `keras` is
    the module of Keras 2 or Keras 3. Raise `ArchitectureError` if Keras rejects a layer.
    """
    source = keras.Input(shape=tuple(architecture["input_shape"]))
    build = _sequential if architecture["format"] == "layers" else _functional
    return build(source, architecture["layers"], keras)


@contextmanager
def undrawn(keras: Any) -> Iterator[None]:
    """Let random initializers return zeros within the context. This saves a third of the time to build a model."""
    random = (keras.initializers.VarianceScaling, keras.initializers.RandomUniform)
    drawing = [kind.__call__ for kind in random]
    for kind in random:
        kind.__call__ = keras.initializers.Zeros.__call__
    try:
        yield
    finally:
        for kind, draw in zip(random, drawing, strict=True):
            kind.__call__ = draw


def _sequential(source: Any, definitions: Sequence[dict[str, Any]], keras: Any) -> Any:
    try:
        return keras.Sequential([source, *(_make(definition, keras) for definition in definitions)])
    except Exception:  # layer by layer, to find the layer that Keras rejects
        output = source
        for position, definition in enumerate(definitions):
            with _refusing(position, definition):
                output = _make(definition, keras)(output)
        raise


def _functional(source: Any, definitions: Sequence[dict[str, Any]], keras: Any) -> Any:
    called: list[Any] = []
    tensors = [source]  # position -1, the input, is the first entry
    for position, definition in enumerate(definitions):
        feeding = [tensors[other + 1] for other in definition["inputs"]]
        keywords = {
            name: value if isinstance(value, bool) else tensors[value + 1]
            for name, value in definition.get("keywords", {}).items()
        }
        first = definition.get("layer", position)
        with _refusing(position, definitions[first]):
            layer = _make(definition, keras) if first == position else called[first]
            tensors.append(layer(feeding[0] if len(feeding) == 1 else feeding, **keywords))
        called.append(layer)
    try:
        model = keras.Model(source, tensors[-1])
    except RecursionError as error:
        raise ArchitectureError(f"{len(definitions)} layers in a row are too many for Keras") from error
    made = list({id(layer): layer for layer in called}.values())
    if any(layer is not other for layer, other in zip(model.layers[1:], made, strict=True)):
        raise RuntimeError(
            "Keras lists the layers in another order than the architecture, so weights would be mixed up"
        )
    return model


@contextmanager
def _refusing(position: int, definition: dict[str, Any]) -> Iterator[None]:
    """Turn any error within the context into an `ArchitectureError` that names the layer."""
    try:
        yield
    except Exception as error:
        message = " ".join(str(error).split())[:300]
        raise ArchitectureError(f"layer {position} ({definition['class_name']}): {message}") from error


def _make(definition: dict[str, Any], keras: Any) -> Any:
    class_name, config = definition["class_name"], definition["config"]
    make = _disabled(class_name, keras) if class_name in AUGMENTING else getattr(keras.layers, class_name)
    if class_name == "LeakyReLU" and "negative_slope" in config:
        return make(config["negative_slope"])  # its name in Keras 2 is alpha
    if (name := config.get("activation")) in HARD_SIGMOIDS:
        config = {**config, "activation": hard_sigmoid(name, keras)}
    return make(**config)


@functools.cache
def _disabled(class_name: str, keras: Any) -> type:
    """Return a class of layers that return their input, registered so that Keras can copy models with such layers."""
    parent = getattr(keras.layers, class_name)
    members = {"call": _return_input, "__module__": parent.__module__}
    register = keras.utils.register_keras_serializable(package="disabled", name=class_name)
    disabled: type = register(type(class_name, (parent,), members))
    return disabled


def _return_input(_layer: Any, inputs: Any, training: bool = False) -> Any:  # noqa: ARG001 - Keras asks for the name
    return inputs
