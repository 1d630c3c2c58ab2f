"""Gradients of single examples with respect to scales and shifts of normalizations, and to slopes of PReLU."""

from collections.abc import Sequence
from typing import Any

from baselines.core.lazy import tf
from baselines.core.needs import MeasureUnavailable
from baselines.network.nodes import Node


def scale_gradients(node: Node, weights: Sequence[Any], entering: Any, slope: Any) -> list[Any]:
    """Return the gradients (n, *shape) with respect to each trained weight of a normalization or PReLU.

    The gradients have the order of `weights`, in which trained weights come first. `entering` are the inputs (n, ...)
    of the node, `slope` is the gradient (n, ...) with respect to its outputs. Raises `MeasureUnavailable` for Keras'
    option `rms_scaling`, and for a group normalization whose channels are not the last axis.
    """
    if node.kind == "PReLU":
        shared = [axis for axis, size in enumerate(weights[0].shape, 1) if size == 1]
        return [tf.reduce_sum(slope * tf.minimum(entering, 0), shared, keepdims=True)]
    own = _axes(node, len(slope.shape))
    others = [axis for axis in range(1, len(slope.shape)) if axis not in own]
    shift = tf.reduce_sum(slope, others)
    found = [shift] if node.config.get("center", False) else []
    if not node.config.get("scale", True):
        return found
    if node.kind == "BatchNormalization":
        mean, variance = weights[node.n_trained : node.n_trained + 2]
        centred = tf.reduce_sum(slope * entering, others) - mean * shift
        return [centred * tf.math.rsqrt(variance + node.config["epsilon"]), *found]
    return [tf.reduce_sum(slope * _normalized(node, entering, own), others), *found]


def _axes(norm: Node, rank: int) -> list[int]:
    axes = norm.config["axis"]
    return [axis % rank for axis in (axes if isinstance(axes, list | tuple) else [axes])]


def _normalized(norm: Node, entering: Any, own: list[int]) -> Any:
    if norm.config.get("rms_scaling") or (norm.kind == "GroupNormalization" and own != [len(entering.shape) - 1]):
        raise MeasureUnavailable(
            f"needs gradients of single examples, which layer {norm.name} ({norm.kind}) does not give"
        )
    epsilon = norm.config["epsilon"]
    if norm.kind == "GroupNormalization":
        size = entering.shape[-1]
        groups = size if norm.config["groups"] == -1 else norm.config["groups"]
        apart = tf.reshape(entering, (tf.shape(entering)[0], -1, groups, size // groups))
        mean, variance = tf.nn.moments(apart, (1, 3), keepdims=True)
        return tf.reshape((apart - mean) * tf.math.rsqrt(variance + epsilon), tf.shape(entering))
    if norm.kind == "RMSNormalization":
        mean, variance = 0.0, tf.reduce_mean(tf.square(entering), own, keepdims=True)
    else:
        mean, variance = tf.nn.moments(entering, own, keepdims=True)
    return (entering - mean) * tf.math.rsqrt(variance + epsilon)
