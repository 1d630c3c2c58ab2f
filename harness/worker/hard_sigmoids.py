"""The hard sigmoids of Keras 2 and Keras 3. A model may use both, in either Keras."""

import functools
from typing import Any

#: Names in canonical form.
HARD_SIGMOIDS = ("hard_sigmoid", "hard_sigmoid_of_keras_2")

#: Package under which Keras registers the functions; `baselines/network/activations.py` uses it to find them.
PACKAGE = "pgdl"


def hard_sigmoid(name: str, keras: Any) -> Any:
    """Return the activation function with a name in `HARD_SIGMOIDS`; if possible, Keras' own function."""
    is_keras_2 = not hasattr(keras, "ops")
    if (name == "hard_sigmoid_of_keras_2") == is_keras_2:
        return keras.activations.hard_sigmoid
    return _registered(keras, of_keras_2=not is_keras_2)


@functools.cache
def _registered(keras: Any, *, of_keras_2: bool) -> Any:
    """Return the hard sigmoid that `keras` lacks, registered so that Keras can copy models that use it."""

    def hard_sigmoid_of_keras_2(x: Any) -> Any:
        return keras.ops.clip(0.2 * x + 0.5, 0, 1)

    def hard_sigmoid_of_keras_3(x: Any) -> Any:
        return keras.backend.relu(x + 3, max_value=6) / 6

    function = hard_sigmoid_of_keras_2 if of_keras_2 else hard_sigmoid_of_keras_3
    return keras.utils.register_keras_serializable(PACKAGE, function.__name__)(function)
