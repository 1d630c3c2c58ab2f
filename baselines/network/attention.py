"""Multi-head attention as four dense layers (query, key, value, output), with a node for the heads between them."""

import math
from collections.abc import Mapping
from typing import Any

from baselines.core.lazy import tf
from baselines.network.nodes import ATTENTION, Array, Node


def is_plain(config: Mapping[str, Any], switches: Mapping[str, bool], shapes: list[tuple[Any, ...]]) -> bool:
    """Whether a `MultiHeadAttention` attends along one axis, has a single output, and has no gate."""
    outputs = config.get("output_shape")
    return (
        all(len(shape) == 2 and None not in shape for shape in shapes)
        and config.get("attention_axes") in (None, 1, [1], (1,))
        and (outputs is None or isinstance(outputs, int) or len(outputs) == 1)
        and not config.get("use_gate")
        and not switches.get("return_attention_scores")
    )


def dense(name: str, arrays: tuple[Array, ...], source: int, *, flat: int) -> Node:
    """Return a dense node that replaces a projection of attention, or an equivalent `EinsumDense`.

    `arrays` are the kernel and perhaps a bias, with separate axes for heads and features. The first `flat` axes of the
    kernel belong to the inputs, all others to the outputs.
    """
    kernel, *bias = arrays
    kernel = kernel.reshape(math.prod(kernel.shape[:flat]), -1)
    config = {"units": kernel.shape[1], "use_bias": bool(bias), "activation": "linear"}
    return Node(name, "Dense", config, (kernel, *(array.reshape(-1) for array in bias)), (source,))


class Attention:
    """The heads of an attention, a layer without weights.

    Inputs are query, key and value, each (n, positions, heads times features).
    """

    weights: tuple[()] = ()

    def __init__(self, heads: int, *, causal: bool, window: int | None) -> None:
        """With `window`, a query sees the keys less than `window` positions away; if `causal`, no later keys."""
        self.heads, self.causal, self.window = heads, causal, window

    def __call__(self, inputs: Any, training: bool = False) -> Any:
        """Return softmax(q k' / sqrt(d)) v of all heads, (n, positions, heads times d), where heads have d features."""
        query, key, value = (self._apart(tensor) for tensor in inputs)
        scores = tf.matmul(query, key, transpose_b=True) / math.sqrt(query.shape[-1])
        if self.causal or self.window:
            most = self.window - 1 if self.window else -1  # -1: any number
            seen = tf.linalg.band_part(tf.ones(scores.shape[-2:], tf.bool), most, 0 if self.causal else most)
            scores = tf.where(seen, scores, scores.dtype.min)
        found = tf.transpose(tf.matmul(tf.nn.softmax(scores), value), (0, 2, 1, 3))
        return tf.reshape(found, (-1, found.shape[1], found.shape[2] * found.shape[3]))

    def _apart(self, tensor: Any) -> Any:
        parts = tf.reshape(tensor, (-1, tensor.shape[1], self.heads, tensor.shape[2] // self.heads))
        return tf.transpose(parts, (0, 2, 1, 3))


def attention(name: str, config: Mapping[str, Any], sources: tuple[int, ...], *, causal: bool) -> Node:
    """Return a node with an `Attention`; `config` is that of Keras, `sources` are positions of query, key and value."""
    own = {"heads": config["num_heads"], "causal": causal, "window": config.get("sliding_window")}
    return Node(name, ATTENTION, own, (), sources)
