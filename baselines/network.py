"""Views of a Keras model, of Keras 2 or Keras 3, that several measures share."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import tensorflow as tf

#: Attributes under which layers keep kernels, in the order in which a layer applies them.
_KERNELS = ("depthwise_kernel", "pointwise_kernel", "kernel")


def kernel_shapes(model: Any) -> list[tuple[int, ...]]:
    """Shape of the kernel of every weight layer, in forward order: (..., inputs, outputs).

    A separable convolution counts as two weight layers; biases and normalization do not count.
    """
    return [
        tuple(getattr(layer, name).shape)
        for layer in model.layers
        for name in _KERNELS
        if getattr(layer, name, None) is not None
    ]


@contextmanager
def up_to_logits(model: Any) -> Iterator[Any]:
    """Yield the model without its final softmax, if it has one; the model itself is as before afterwards."""
    last = model.layers[-1]
    activation = getattr(last, "activation", None)
    if isinstance(last, tf.keras.layers.Softmax):
        yield tf.keras.Model(model.inputs, last.input)
    elif activation is tf.keras.activations.softmax:
        last.activation = tf.keras.activations.linear
        try:
            yield model
        finally:
            last.activation = activation
    else:
        yield model


def layer_inputs(model: Any) -> list[Any]:
    """Symbolic input tensors of all layers, in forward order; a layer that merges has several."""
    layers = [layer for layer in model.layers if not isinstance(layer, tf.keras.layers.InputLayer)]
    return [tensor for layer in layers for tensor in tf.nest.flatten(layer.input)]
