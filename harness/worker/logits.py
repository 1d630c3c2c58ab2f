"""Adds the method `logits` to models: it returns the outputs before a final softmax or log-softmax."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any


def add_logits(model: Any, architecture: Mapping[str, Any], keras: Any) -> None:
    """Add `model.logits(inputs)`, which leaves out a final softmax: a softmax rounds outputs to 0 and 1."""
    last = _softmax_of(model, architecture)

    def logits(inputs: Any, training: bool = False) -> Any:
        if last is None:
            return model(inputs, training=training)
        with _passing(last, keras):
            return model(inputs, training=training)

    logits.__module__ = keras.__name__  # AutoGraph leaves functions of Keras unchanged
    object.__setattr__(model, "logits", logits)  # bypasses the framework's tracking of attributes


def _softmax_of(model: Any, architecture: Mapping[str, Any]) -> Any:
    """Return the layer that computes the final softmax; None without a final softmax."""
    position, layers = architecture.get("softmax"), architecture["layers"]
    if position is None:
        return None
    n_made = sum("layer" not in entry for entry in layers)
    number = sum("layer" not in entry for entry in layers[:position])  # repeated calls add no layer
    return model.layers[len(model.layers) - n_made + number]


@contextmanager
def _passing(layer: Any, keras: Any) -> Iterator[None]:
    """Make a layer leave out its softmax within the context."""
    if isinstance(layer, keras.layers.Softmax):
        name, other = "call", lambda inputs, *_, **__: inputs
    else:
        name, other = "activation", keras.activations.linear
    before = getattr(layer, name)
    setattr(layer, name, other)
    try:
        yield
    finally:
        setattr(layer, name, before)
