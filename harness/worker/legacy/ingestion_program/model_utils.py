"""The functions of the competition's module `model_utils`, for measures of 2020.

The original module wrapped layers and models. Here every layer remembers its last input without a wrapper. Every model
accepts a tape and lets it watch the input.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import tensorflow as tf

Sequential = tf.keras.Sequential


def wrap_layer(layer_cls: Any, *args: Any, **kwargs: Any) -> Any:
    """Return a new layer, whose attribute `_last_seen_input` is its last input."""
    return layer_cls(*args, **kwargs)


def model_def_to_keras_sequential(model_def: Sequence[Mapping[str, Any]]) -> Any:
    """Return a Sequential model. In each entry, `layer_name` is a layer's class; the other items are its arguments."""
    model = Sequential()
    for layer in model_def:
        settings = {name: _whole(value) for name, value in layer.items() if name != "layer_name"}
        model.add(wrap_layer(getattr(tf.keras.layers, layer["layer_name"]), **settings))
    return model


def _whole(value: Any) -> Any:
    return int(value) if isinstance(value, float) and value.is_integer() else value


def get_jacobian(model: Any, inputs: Any) -> dict[int, Any]:
    """Return position of a layer -> Jacobian of the model's outputs with respect to the layer's inputs.

    A Jacobian has the shape (n, n_outputs, *shape of an input). The value of a layer that was not called is None.
    """
    with tf.GradientTape(persistent=True) as tape:
        outputs = model(inputs, tape=tape)
    seen = [getattr(layer, "_last_seen_input", None) for layer in model.layers]
    return {n: None if one is None else tape.batch_jacobian(outputs, one) for n, one in enumerate(seen)}


get_jacobian = tf.function(get_jacobian)
