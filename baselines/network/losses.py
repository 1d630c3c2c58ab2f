"""The cross-entropy of logits with accurate gradients, and sums of derivatives over all logits.

A float32 softmax rounds a probability p near 1 to seven digits. Its gradient 1 - p with respect to its logit is then 0
for margins above 17 nats. Here 1 - p is computed as the sum of the other probabilities.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from baselines.core.lazy import tf
from baselines.network.network import Network, joined
from baselines.network.nodes import Array


def cross_entropies(logits: Any, labels: Any) -> Any:
    """Return cross-entropies in nats (n,) of logits (n, classes), as a tensor that can be differentiated."""
    wrong = tf.one_hot(labels, logits.shape[-1], 0.0, 1.0, dtype=logits.dtype)

    def losses(logits: Any) -> tuple[Any, Any]:
        def back(factors: Any) -> Any:
            return factors[:, None] * _slopes(tf.nn.softmax(logits), wrong)

        odd = tf.reduce_sum(tf.nn.softmax(logits) * wrong, axis=1)
        loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits)
        return tf.where(odd < 0.5, -tf.math.log1p(-odd), loss), back

    # softplus of the log-odds has the same gradient, but tracing it takes several times as long
    return tf.custom_gradient(losses)(logits)


def directions(logits: Any, labels: Any) -> Any:
    """Return the gradients (n, classes) of cross-entropies in the logits, divided by a probability.

    The divisor is the example's largest probability of a wrong class. Without the division, gradients underflow for
    margins above 87 nats, and their squares above 43 nats.
    """
    return _relative(logits, labels, 1)[0]


def relative_slopes(logits: Any, labels: Any) -> tuple[Any, Any]:
    """Return (gradients / e^s, s) for the gradients (n, classes) of cross-entropies in the logits.

    e^s is the largest probability of a wrong class in the batch. Without the division, gradients could underflow.
    """
    slopes, logs = _relative(logits, labels, None)
    return slopes, tf.reshape(logs, ())


def balanced(slopes: Any, logits: Any) -> Any:
    """Return gradients (n, classes) in the logits, with a more accurate entry for the largest logit.

    This entry becomes minus the sum of the other entries: 1 - p would be inaccurate for p near 1.
    """
    is_top = tf.one_hot(tf.argmax(logits, axis=1), logits.shape[-1], dtype=logits.dtype)
    return _slopes(slopes, 1 - is_top)


def _relative(logits: Any, labels: Any, axis: int | None) -> tuple[Any, Any]:
    n_classes, dtype = logits.shape[-1], logits.dtype
    logs = tf.nn.log_softmax(logits) + tf.one_hot(labels, n_classes, dtype.min, 0.0, dtype=dtype)
    largest = tf.reduce_max(logs, axis=axis, keepdims=True)
    return _slopes(tf.exp(logs - largest), tf.one_hot(labels, n_classes, 0.0, 1.0, dtype=dtype)), largest


def _slopes(entries: Any, others: Any) -> Any:
    """Return `entries` (n, classes); those where `others` is 0 become minus the sum of their row's other entries."""
    found = entries * others
    return found - (1 - others) * tf.reduce_sum(found, axis=1, keepdims=True)


#: Maximum number of logits that are differentiated after one forward pass.
AT_ONCE = 10

#: Memory for a persistent tape and a backward pass, as a multiple of a forward pass's memory.
PASSES = 4

#: Function of a direction (classes,) in the space of logits that returns numbers (n,); 0 for the direction 0.
Derivative = Callable[[Any], Any]


def sum_over_logits(network: Network, key: Any, forward: Callable[[Any], Derivative], inputs: Array) -> Array:
    """Return sums (n,) of derivatives over all logits, a sum for each of the inputs (n, ...).

    `forward` returns the derivative for a batch of inputs. `key` identifies `forward` (see `Network.in_batches`).
    """

    def run(batch: Any, first: Any) -> tuple[Any]:
        return (_sum(forward(batch), first, network),)

    size = network.batch_size_of(PASSES)
    often = len(inputs) > size  # to compile takes longer than a batch
    parts = [
        joined(network.in_batches(key, run, [inputs], np.int32(first), size=size, often=often))[0]
        for first in range(0, network.n_classes, AT_ONCE)
    ]
    total: Array = np.stack(parts).sum(axis=0, dtype=np.float64)
    return total


def _sum(derivative: Derivative, first: Any, network: Network) -> Any:
    """Return the sum (n,) of a derivative over at most `AT_ONCE` logits, from number `first` on."""
    # Traced once, in a graph: in a loop, TensorFlow's gradient of max pooling would be several times slower.
    once = derivative if tf.executing_eagerly() else tf.function(derivative, autograph=False)
    numbers = range(min(AT_ONCE, network.n_classes))
    return tf.add_n([once(tf.one_hot(first + i, network.n_classes, dtype=network.dtype)) for i in numbers])
