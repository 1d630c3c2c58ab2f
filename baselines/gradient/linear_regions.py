"""Linear regions: sets of inputs on which a piecewise linear network is a single affine function.

The region of an input x is identified by a pattern c(x): for each unit, the linear piece of its activation or max
pooling. The derivative identifies the piece. If an activation is flat at both ends (ReLU6), a positive output
identifies the upper end.

n_steps: steps along the segment between two examples.
"""

import hashlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from baselines.core.lazy import tf
from baselines.core.measure import MeasureUnavailable, Need, measure
from baselines.core.sample import Array
from baselines.core.subject import Subject, shared
from baselines.network import INPUT, Network, joined
from baselines.network.hidden import is_bent, is_linear
from baselines.network.nodes import ACTIVATIONS

#: Identifies an upper end, where the derivative is 0. No activation has this derivative.
_UPPER_END = np.inf

#: Memory for the patterns of examples, as a multiple of a forward pass's memory.
PASSES = 2


@measure(Need.GRADIENTS, Need.QUANTITIES)
def linear_regions_met(subject: Subject, *, n_samples: int = 128, n_steps: int = 32, seed: int = 0) -> float:
    """Mean number of linear regions on the segment between two training examples.

    Formula: 1 + mean over pairs of sum_k 1[c(z_k) != c(z_{k+1})], z_k equally spaced from x to x', c(z) the linear
    pieces of all units at z. Range: [1, n_steps + 1]. Source: Novak et al. 2018, arXiv 1802.08760, on segments; Hanin
    and Rolnick 2019, arXiv 1906.00904. Work: 1 backward pass over 2112 examples. Draws: depend on the order of
    examples. Refused: a layer is not piecewise linear, or there is a single example.

    Regions between two neighbouring points z_k are missed. In large networks, every step leads to another region, so
    the value is n_steps + 1. On digits, 32 steps find 5.3 of 5.8 regions of a network with 32 hidden units, and 17.8 of
    29.5 of a network with hidden layers of 128 and 64 units.

    Args:
        n_samples: training examples; each of the first half is paired with an example of the second half.
    """
    return 1 + float(np.mean(np.sum(_changes(subject, n_samples, n_steps, seed)[0], axis=1)))


@measure(Need.GRADIENTS, Need.QUANTITIES)
def activation_changes(subject: Subject, *, n_samples: int = 128, n_steps: int = 32, seed: int = 0) -> float:
    """Mean number of changes of the units' linear pieces on the segment between two training examples.

    Formula: mean over pairs of sum_k |c(z_k) - c(z_{k+1})|_0, z_k equally spaced from x to x', c(z) the pieces of
    activations at z, |.|_0 the number of entries other than 0. Range: [0, inf). Source: Novak et al. 2018, arXiv
    1802.08760, who also take closed curves through examples. Work: 1 backward pass over 2112 examples. Draws: depend on
    the order of examples.

    All units count, so the value grows with the width. Max pooling does not count.
    """
    return float(np.mean(np.sum(_changes(subject, n_samples, n_steps, seed)[1], axis=1)))


@measure(Need.GRADIENTS)
def activation_patterns(subject: Subject, *, n_samples: int = 2048, seed: int = 0) -> float:
    """Number of linear regions that contain training examples, per example.

    Formula: |{c(x_i)}| / n, c(x) the linear pieces of all units at x, n examples x_i. Range: (0, 1]; 1 for all networks
    that are not narrow. Source: Hanin and Rolnick 2019, arXiv 1906.00904. Refused: a layer is not piecewise linear.
    """
    network, sample = _in_pieces(subject), subject.sample(n_samples, seed)

    def run(images: Any) -> list[Any]:
        nothing = tf.zeros((tf.shape(images)[0], 1))  # the only entry if no layer has several pieces
        return [nothing, *(pieces for _, pieces in _pieces(network, images))]

    batches = network.in_batches("patterns", run, [sample.inputs], size=network.batch_size_of(PASSES))
    digests = {_digest(parts, row) for parts in batches for row in range(len(parts[0]))}
    return len(digests) / len(sample)


def _digest(parts: list[Array], row: int) -> bytes:
    found = hashlib.blake2b(digest_size=16)
    for part in parts:
        found.update(part[row].tobytes())
    return found.digest()


@shared
def _changes(subject: Subject, n_samples: int, n_steps: int, seed: int) -> tuple[Array, Array]:
    """Return two arrays (pairs, n_steps): whether the region changes at a step, and how many activations do."""
    network, sample = _in_pieces(subject), subject.sample(n_samples, seed)
    number = len(sample) // 2
    if not number:
        raise MeasureUnavailable("needs two training examples")
    network.require_room(n_steps + 1, "try a smaller n_steps")

    def run(begin: Any, end: Any) -> tuple[Any, Any]:
        shares = tf.reshape(tf.linspace(0.0, 1.0, n_steps + 1), (1, -1, *[1] * (len(begin.shape) - 1)))
        points = begin[:, None] + shares * (end - begin)[:, None]
        changed = tf.zeros((tf.shape(begin)[0], n_steps), tf.int32)
        changed_units = changed
        for place, pieces in _pieces(network, tf.reshape(points, (-1, *begin.shape[1:]))):
            pieces = tf.reshape(pieces, (-1, n_steps + 1, pieces.shape[1]))
            found = tf.math.count_nonzero(pieces[:, 1:] != pieces[:, :-1], axis=2, dtype=tf.int32)
            changed += found
            changed_units += found if network.nodes[place].kind in ACTIVATIONS else 0
        return changed > 0, changed_units

    arrays = [sample.inputs[:number], sample.inputs[number : 2 * number]]
    size = max(network.batch_size_of(PASSES) // (n_steps + 1), 1)
    regions, units = joined(network.in_batches(("changes of pieces", n_steps), run, arrays, size=size))
    return regions, units


def _in_pieces(subject: Subject) -> Network:
    network = subject.network
    for node in network.nodes:
        if not is_linear(node) and not is_bent(node):
            raise MeasureUnavailable(f"needs layers that are linear in pieces, unlike layer {node.name} ({node.kind})")
    return network


def _pieces(network: Network, points: Any) -> Iterator[tuple[int, Any]]:
    """Yield (position, pieces of all units (points, units)) for each input of each nonlinear layer.

    A piece is given by its slope or, where an activation is constant and positive, by `_UPPER_END`.
    """
    places = [place for place, node in enumerate(network.nodes) if not is_linear(node)]
    sources = sorted({source for place in places for source in network.nodes[place].sources})
    values = dict(zip(sources, network.run({INPUT: points}, sources), strict=True))
    for place in places:
        entering = {source: values[source] for source in network.nodes[place].sources}
        with tf.GradientTape() as tape:
            tape.watch(list(entering.values()))
            (leaving,) = network.run(entering, [place])
        for slope in tape.gradient(leaving, list(entering.values())):
            if network.nodes[place].kind in ACTIVATIONS:
                slope = tf.where((slope == 0) & (leaving > 0), _UPPER_END, slope)
            yield place, tf.reshape(slope, (-1, int(np.prod(slope.shape[1:]))))
