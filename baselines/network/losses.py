"""The cross-entropy of logits, its gradients, and sums of derivatives over all logits.

A float32 softmax rounds a probability p near 1 to seven digits. Then 1 - p, the gradient with respect to its logit, is
0 from about 17 nats of margin on. Here 1 - p is computed as the sum of the other probabilities.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from baselines.core.lazy import tf
from baselines.network.network import Network, joined
from baselines.network.nodes import Array


def cross_entropies(logits: Any, labels: Any) -> Any:
    """Cross-entropy in nats of logits (n, classes); returns (n,)."""
    wrong = tf.one_hot(labels, logits.shape[-1], 0.0, 1.0, dtype=logits.dtype)

    def losses(logits: Any) -> tuple[Any, Any]:
        def back(factors: Any) -> Any:
            return factors[:, None] * _slopes(tf.nn.softmax(logits), wrong)

        odd = tf.reduce_sum(tf.nn.softmax(logits) * wrong, axis=1)
        loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits)
        return tf.where(odd < 0.5, -tf.math.log1p(-odd), loss), back

    # softplus of the log-odds has the same gradient, but takes several times as long to trace
    return tf.custom_gradient(losses)(logits)


def directions(logits: Any, labels: Any) -> Any:
    """Gradients (n, classes) of the cross-entropies in the logits, each divided by its largest wrong probability.

    A wrong probability is that of a class other than the label. Unscaled gradients underflow from 87 nats of margin on,
    and their squares from 43 nats on.
    """
    return _relative(logits, labels, 1)[0]


def relative_slopes(logits: Any, labels: Any) -> tuple[Any, Any]:
    """Return the cross-entropies' gradients (n, classes) over e^s, and s; e^s is the largest wrong probability."""
    slopes, logs = _relative(logits, labels, None)
    return slopes, tf.reshape(logs, ())


def balanced(slopes: Any, logits: Any) -> Any:
    """Return gradients (n, classes) with the largest logit's entry replaced by minus the sum of the other entries.

    The old entry is inaccurate if it was computed from 1 - p with p near 1.
    """
    is_top = tf.one_hot(tf.argmax(logits, axis=1), logits.shape[-1], dtype=logits.dtype)
    return _slopes(slopes, 1 - is_top)


def _relative(logits: Any, labels: Any, axis: int | None) -> tuple[Any, Any]:
    """Gradients divided by the largest wrong probability along `axis`, and the logarithm of that probability."""
    n_classes, dtype = logits.shape[-1], logits.dtype
    logs = tf.nn.log_softmax(logits) + tf.one_hot(labels, n_classes, dtype.min, 0.0, dtype=dtype)
    largest = tf.reduce_max(logs, axis=axis, keepdims=True)
    return _slopes(tf.exp(logs - largest), tf.one_hot(labels, n_classes, 0.0, 1.0, dtype=dtype)), largest


def _slopes(entries: Any, others: Any) -> Any:
    """Gradients (n, classes): `entries` where `others` is 1, and minus their sum where `others` is 0."""
    found = entries * others
    return found - (1 - others) * tf.reduce_sum(found, axis=1, keepdims=True)


#: Largest number of logits that are differentiated after one forward pass.
AT_ONCE = 10

#: Memory of a persistent tape and a backward pass, in units of a forward pass.
PASSES = 4

#: A number for each example (n,), as a function of a unit direction (classes,) of the logits; 0 for direction 0.
Derivative = Callable[[Any], Any]


def sum_over_logits(network: Network, key: Any, forward: Callable[[Any], Derivative], inputs: Array) -> Array:
    """Sum a derivative over all logits, for each example; returns (n,), float64.

    Args:
        network: the network to differentiate.
        key: identifies `forward` and everything it depends on.
        forward: runs a batch (some, ...) forward under a persistent tape, and returns the derivative.
        inputs: inputs (n, ...).
    """

    def run(batch: Any, first: Any) -> tuple[Any]:
        return (_sum(forward(batch), first, network),)

    size = network.batch_size_of(PASSES)
    often = len(inputs) > size  # compilation takes longer than a batch
    parts = [
        joined(network.in_batches(key, run, [inputs], np.int32(first), size=size, often=often))[0]
        for first in range(0, network.n_classes, AT_ONCE)
    ]
    total: Array = np.stack(parts).sum(axis=0, dtype=np.float64)
    return total


def _sum(derivative: Derivative, first: Any, network: Network) -> Any:
    """Sum (n,) over `AT_ONCE` logits from number `first` on; directions beyond the last logit are 0.

    In a graph the derivative is traced once, and its copies share the forward pass. A loop in the graph is avoided
    because TensorFlow's backward pass of max pooling is several times slower inside loops.
    """
    once = derivative if tf.executing_eagerly() else tf.function(derivative, autograph=False)
    numbers = range(min(AT_ONCE, network.n_classes))
    return tf.add_n([once(tf.one_hot(first + i, network.n_classes, dtype=network.dtype)) for i in numbers])
