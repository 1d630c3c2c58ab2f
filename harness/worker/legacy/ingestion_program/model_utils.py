"""`model_utils` of the competition's ingestion program, for code of 2020 that imports it.

In this process every layer remembers its input, and every model watches it with a tape, so nothing has to be wrapped.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import tensorflow as tf

Sequential = tf.keras.Sequential


def wrap_layer(layer_cls: Any, *args: Any, **kwargs: Any) -> Any:
    """Return a layer, which has its last input as `_last_seen_input`."""
    return layer_cls(*args, **kwargs)


def model_def_to_keras_sequential(model_def: Sequence[Mapping[str, Any]]) -> Any:
    """Return the model of a competition's list of layers: each has its class as `layer_name`, beside its arguments."""
    model = Sequential()
    for layer in model_def:
        settings = {name: _whole(value) for name, value in layer.items() if name != "layer_name"}
        model.add(wrap_layer(getattr(tf.keras.layers, layer["layer_name"]), **settings))
    return model


def _whole(value: Any) -> Any:
    return int(value) if isinstance(value, float) and value.is_integer() else value


def get_jacobian(model: Any, inputs: Any) -> dict[int, Any]:
    """Return position of each layer -> the Jacobian of the model's outputs by the layer's inputs.

    A Jacobian has the shape (n, n_outputs, *shape of an input); None for a layer that was not called.
    """
    with tf.GradientTape(persistent=True) as tape:
        outputs = model(inputs, tape=tape)
    seen = [getattr(layer, "_last_seen_input", None) for layer in model.layers]
    return {n: None if one is None else tape.batch_jacobian(outputs, one) for n, one in enumerate(seen)}


get_jacobian = tf.function(get_jacobian)
