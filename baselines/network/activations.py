"""Activation functions and their names."""

from typing import Any

from baselines.core.lazy import tf

#: Package of functions that a runtime registers because its Keras lacks them, such as the hard sigmoid of Keras 2.
_PACKAGE = "pgdl"


def function_named(name: str) -> Any:
    """Return the activation function of Keras or of `pgdl` with this name; raises `ValueError` for other names."""
    return _registered(name) or tf.keras.activations.get(name)


def name_of(activation: Any) -> Any:
    """Return the name of an activation function of Keras, `tf.nn` or `pgdl`; return any other function unchanged."""
    name = getattr(activation, "__name__", "").removesuffix("_v2")
    known = (getattr(tf.keras.activations, name, None), _registered(name))
    has_name = any(one is not None for one in known)
    return name if has_name and activation in (*known, getattr(tf.nn, name, None)) else activation


def _registered(name: str) -> Any:
    return tf.keras.utils.get_registered_object(f"{_PACKAGE}>{name}")
