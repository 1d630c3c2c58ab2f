"""Views of a Keras model, of Keras 2 or Keras 3, that several measures share."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import tensorflow as tf

#: Images (N, ...) -> inputs of the layers, and logits (N, classes).
Forward = Callable[[Any], tuple[list[Any], Any]]

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
def forward_pass(model: Any) -> Iterator[Forward]:
    """Yield a differentiable function from images to (inputs of all layers in forward order, logits).

    Layers run in inference mode. A final softmax is left out; the model is as before afterwards. A layer that
    merges has several inputs.
    """
    layers = [layer for layer in model.layers if not isinstance(layer, tf.keras.layers.InputLayer)]
    *rest, last = layers
    if isinstance(last, tf.keras.layers.Softmax):
        yield _forward(model, rest, last.input)
    elif getattr(last, "activation", None) is tf.keras.activations.softmax:
        last.activation = tf.keras.activations.linear
        try:
            yield _forward(model, layers, model.outputs[0])
        finally:
            last.activation = tf.keras.activations.softmax
    else:
        yield _forward(model, layers, model.outputs[0])


def _forward(model: Any, layers: list[Any], logits: Any) -> Forward:
    if isinstance(model, tf.keras.Sequential):  # Keras 3 calls its layers often, so layer.input is ambiguous
        return lambda images: _run_chain(layers, images)
    seen = [tensor for layer in layers for tensor in tf.nest.flatten(layer.input)]
    graph = tf.keras.Model(model.inputs, [*seen, logits])

    def run_graph(images: Any) -> tuple[list[Any], Any]:
        *seen, logits = graph(images, training=False)
        return seen, logits

    return run_graph


def _run_chain(layers: list[Any], images: Any) -> tuple[list[Any], Any]:
    seen, flow = [], images
    for layer in layers:
        seen.append(flow)
        flow = layer(flow, training=False)
    return seen, flow
