"""Derivatives of the logits one after another, from one forward pass."""

from collections.abc import Callable
from typing import Any

import numpy as np

from baselines.core.lazy import tf
from baselines.network.network import Network, joined
from baselines.network.nodes import Array

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
