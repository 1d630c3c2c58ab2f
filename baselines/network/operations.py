"""Computes common layers without Keras, whose overhead in small networks exceeds the computation itself."""

import math
from collections.abc import Callable, Sequence
from typing import Any

from baselines.core.lazy import tf
from baselines.network.activations import function_named
from baselines.network.nodes import Array, Node

#: TensorFlow's names of data formats with channels last, by number of axes.
_FORMATS = {3: "NWC", 4: "NHWC", 5: "NDHWC"}

#: Function of a layer's inputs (n, ...) and weights that returns its outputs.
_Compute = Callable[..., Any]


class Operation:
    """Replaces a Keras layer: the same computation in inference mode."""

    def __init__(self, compute: _Compute, weights: Sequence[Array], dtype: str) -> None:
        self._compute, self._dtype = compute, tf.as_dtype(dtype)
        self.weights = [tf.Variable(array, dtype=self._dtype) for array in weights]  #: in Keras' order

    def __call__(self, inputs: Any, training: bool = False) -> Any:
        """Return the layer's outputs (n, ...) for inputs (n, ...)."""
        if inputs.dtype != self._dtype:
            inputs = tf.cast(inputs, self._dtype)
        return self._compute(inputs, *self.weights)

    def set_weights(self, weights: Sequence[Array]) -> None:
        """Set all weights, in Keras' order."""
        for variable, array in zip(self.weights, weights, strict=True):
            variable.assign(array)


def operation(node: Node, dtype: str) -> Operation | None:
    """Return the operation of a node, computed in `dtype`; None if Keras must compute it."""
    found = _OPERATIONS.get(node.kind)
    compute = None if found is None else found(node.config)
    return None if compute is None else Operation(compute, node.weights, dtype)


def makes_masks(node: Node) -> bool:
    """Whether the output of a node has a Keras mask, which later layers use."""
    return node.kind == "Masking" or bool(node.config.get("mask_zero"))


def _dense(_config: dict[str, Any]) -> _Compute:
    def compute(inputs: Any, kernel: Any, *bias: Any) -> Any:
        found = tf.matmul(inputs, kernel) if len(inputs.shape) == 2 else tf.tensordot(inputs, kernel, 1)
        return tf.nn.bias_add(found, *bias) if bias else found

    return compute


def _convolution(config: dict[str, Any]) -> _Compute | None:
    if config["groups"] != 1 or config["padding"] == "causal":
        return None
    strides, padding, rates = config["strides"], config["padding"].upper(), config["dilation_rate"]

    def compute(inputs: Any, kernel: Any, *bias: Any) -> Any:
        order = _FORMATS[len(inputs.shape)]  # the default has no gradient in three dimensions
        found = tf.nn.convolution(inputs, tf.convert_to_tensor(kernel), strides, padding, order, rates)
        return tf.nn.bias_add(found, *bias) if bias else found

    return compute


def _batch_normalization(config: dict[str, Any]) -> _Compute | None:
    if config["axis"] != -1 or config.get("renorm"):
        return None
    has_scale, has_shift, epsilon = config["scale"], config["center"], config["epsilon"]

    def compute(inputs: Any, *weights: Any) -> Any:
        *affine, mean, variance = weights
        scale = affine[0] if has_scale else None
        return tf.nn.batch_normalization(inputs, mean, variance, affine[-1] if has_shift else None, scale, epsilon)

    return compute


def _activation(config: dict[str, Any]) -> _Compute | None:
    name = config["activation"]
    return function_named(name) if isinstance(name, str) else None


def _relu(config: dict[str, Any]) -> _Compute | None:
    is_plain = config["max_value"] is None and not config["negative_slope"] and not config["threshold"]
    return tf.nn.relu if is_plain else None


def _pooling(name: str) -> Callable[[dict[str, Any]], _Compute | None]:
    def of(config: dict[str, Any]) -> _Compute | None:
        if config["data_format"] != "channels_last":
            return None
        size, strides, padding = config["pool_size"], config["strides"], config["padding"].upper()
        return lambda inputs: getattr(tf.nn, name)(inputs, size, strides, padding, _FORMATS[len(inputs.shape)])

    return of


def _global_average(config: dict[str, Any]) -> _Compute | None:
    if config["data_format"] != "channels_last" or config["keepdims"]:
        return None
    return lambda inputs: tf.reduce_mean(inputs, axis=list(range(1, len(inputs.shape) - 1)))


def _flatten(config: dict[str, Any]) -> _Compute | None:
    if config["data_format"] != "channels_last":
        return None
    return lambda inputs: tf.reshape(inputs, (-1, math.prod(inputs.shape[1:])))


_DIMENSIONS = ("1D", "2D", "3D")

#: Kind of layer -> function that turns its configuration into its computation; None for unusual settings.
_OPERATIONS: dict[str, Callable[[dict[str, Any]], _Compute | None]] = {
    "Dense": _dense,
    "BatchNormalization": _batch_normalization,
    "Activation": _activation,
    "ReLU": _relu,
    "Flatten": _flatten,
    **{f"Conv{dimensions}": _convolution for dimensions in _DIMENSIONS},
    **{f"MaxPooling{dimensions}": _pooling("max_pool") for dimensions in _DIMENSIONS},
    **{f"AveragePooling{dimensions}": _pooling("avg_pool") for dimensions in _DIMENSIONS},
    **{f"GlobalAveragePooling{dimensions}": _global_average for dimensions in _DIMENSIONS},
}
