"""The cross-entropy of logits, its gradients, and derivatives of one logit after another.

A softmax computes a probability p near 1 to seven digits only, so that 1 - p, the gradient of its logit, is rounded:
to 0 from about 17 nats of margin on. Here 1 - p is the sum of the other probabilities.
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

    # softplus of the log-odds has the same gradient, and takes several times as long to trace
    return tf.custom_gradient(losses)(logits)


def directions(logits: Any, labels: Any) -> Any:
    """Gradients (n, classes) of the cross-entropies in the logits, each over the largest probability of a wrong class.

    They do not vanish as the gradients do where these are below the smallest number, from 87 nats of margin on, and
    their squares from 43 on.
    """
    return _relative(logits, labels, 1)[0]


def relative_slopes(logits: Any, labels: Any) -> tuple[Any, Any]:
    """The same gradients (n, classes) in one unit e^s, the largest probability of a wrong class of all; and s ()."""
    slopes, logs = _relative(logits, labels, None)
    return slopes, tf.reshape(logs, ())


def balanced(slopes: Any, logits: Any) -> Any:
    """Gradients (n, classes) whose entries sum to 0, with that of the largest logit made of the others.

    The digits of 1 - p, with p near 1, are lost where that entry was made of it.
    """
    is_top = tf.one_hot(tf.argmax(logits, axis=1), logits.shape[-1], dtype=logits.dtype)
    return _slopes(slopes, 1 - is_top)


def _relative(logits: Any, labels: Any, axis: int | None) -> tuple[Any, Any]:
    """Gradients in the unit of the largest probability of a wrong class along `axis`, and its logarithm."""
    n_classes, dtype = logits.shape[-1], logits.dtype
    logs = tf.nn.log_softmax(logits) + tf.one_hot(labels, n_classes, dtype.min, 0.0, dtype=dtype)
    largest = tf.reduce_max(logs, axis=axis, keepdims=True)
    return _slopes(tf.exp(logs - largest), tf.one_hot(labels, n_classes, 0.0, 1.0, dtype=dtype)), largest


def _slopes(entries: Any, others: Any) -> Any:
    """Gradients (n, classes): entries where `others` is 1, as those of wrong classes, and minus their sum elsewhere."""
    found = entries * others
    return found - (1 - others) * tf.reduce_sum(found, axis=1, keepdims=True)


#: Logits of a network with many that are differentiated after one forward pass.
AT_ONCE = 10

#: Memory that a persistent tape and a backward pass take, in forward passes.
PASSES = 4

#: What is wanted (n,) along a unit direction (classes,) of the logits; it is 0 along none.
Derivative = Callable[[Any], Any]


def sum_over_logits(network: Network, key: Any, forward: Callable[[Any], Derivative], inputs: Array) -> Array:
    """Sum (n,), float64, of derivatives along all logits, example by example.

    Args:
        network: that is differentiated.
        key: names `forward`, with all that it depends on.
        forward: passes a batch of inputs (some, ...) forward under a persistent tape.
        inputs: examples (n, ...).
    """

    def run(batch: Any, first: Any) -> tuple[Any]:
        return (_sum(forward(batch), first, network),)

    size = network.batch_size_of(PASSES)
    often = len(inputs) > size  # to compile takes longer than one batch does
    parts = [
        joined(network.in_batches(key, run, [inputs], np.int32(first), size=size, often=often))[0]
        for first in range(0, network.n_classes, AT_ONCE)
    ]
    total: Array = np.stack(parts).sum(axis=0, dtype=np.float64)
    return total


def _sum(derivative: Derivative, first: Any, network: Network) -> Any:
    """The sum over `AT_ONCE` logits from number `first` on; those behind the last one add nothing.

    In a graph the derivative is traced once; its copies share the forward pass. A loop in the graph would do, were it
    not that TensorFlow's maximum pooling takes several times as long to go back through inside of loops.
    """
    once = derivative if tf.executing_eagerly() else tf.function(derivative, autograph=False)
    numbers = range(min(AT_ONCE, network.n_classes))
    return tf.add_n([once(tf.one_hot(first + i, network.n_classes, dtype=network.dtype)) for i in numbers])
