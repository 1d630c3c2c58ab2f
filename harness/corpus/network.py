"""Builds the Keras network of a cell of a recipe's grid, for training and for saving."""

import json
from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from harness.corpus.families import Layer
from harness.format.architecture import layer_list
from harness.format.layer_settings import TRAINING_ONLY


def training_network(layers: Sequence[Layer], input_shape: Sequence[int], weight_decay: float, initializer: str) -> Any:
    """Return a Keras network for training; `weight_decay` is an L2 penalty on kernels, `initializer` draws kernels."""
    model = _build(layers, input_shape)
    draw = tf.keras.initializers.get(initializer)
    for layer in model.layers:
        if hasattr(layer, "kernel"):
            layer.kernel.assign(draw(layer.kernel.shape))
            if weight_decay:
                layer.kernel.regularizer = tf.keras.regularizers.L2(weight_decay)
    return model


def saved_config(layers: Sequence[Layer], input_shape: Sequence[int]) -> dict[str, Any]:
    """Return the content of config.json (a list, or Keras' JSON) for the layers that have an effect after training."""
    kept = _without_training(layers)
    if any("inputs" in layer for layer in kept):
        config: dict[str, Any] = json.loads(_build(kept, input_shape).to_json())
        return config
    return layer_list(kept, input_shape)


def named_weights(model: Any) -> list[tuple[str, list[tuple[str, Any]]]]:
    """Return (name, [(name of a weight, array), ...]) of each layer that has weights, in Keras' order."""
    return [
        (layer.name, [(weight.name, array) for weight, array in zip(layer.weights, layer.get_weights(), strict=True)])
        for layer in model.layers
        if layer.weights
    ]


def _build(layers: Sequence[Layer], input_shape: Sequence[int]) -> Any:
    tf.keras.backend.clear_session()  # starts the numbers in layers' names anew
    source = tf.keras.Input(tuple(input_shape))
    tensors = [source]  # position -1, the input, is the first entry
    for position, layer in enumerate(layers):
        settings = {name: value for name, value in layer.items() if name not in ("layer_name", "inputs")}
        feeding = [tensors[other + 1] for other in layer.get("inputs", [position - 1])]
        made = getattr(tf.keras.layers, layer["layer_name"])(**settings)
        tensors.append(made(feeding[0] if len(feeding) == 1 else feeding))
    return tf.keras.Model(source, tensors[-1])


def _without_training(layers: Sequence[Layer]) -> list[Layer]:
    """Return the layers that have an effect after training. Their `inputs` become positions in the returned list."""
    kept: list[Layer] = []
    new_position = {-1: -1}
    for position, layer in enumerate(layers):
        if layer["layer_name"] in TRAINING_ONLY:
            new_position[position] = new_position[layer.get("inputs", [position - 1])[0]]
            continue
        new_position[position] = len(kept)
        inputs = {"inputs": [new_position[other] for other in layer["inputs"]]} if "inputs" in layer else {}
        kept.append({**layer, **inputs})
    return kept
