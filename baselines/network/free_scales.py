"""Sets the scales that layer, group, RMS and unit normalization remove, so that measures do not depend on these scales.

The scale of such a layer's input has no effect on the network's function. So all weights whose results are summed
before a normalization get a common factor. With this factor, the variance of the sum (its mean square, if the
normalization does not centre) is 1 on average over training examples. Groups of channels that are normalized separately
have separate factors. If a sum includes outputs of normalizations, but no normalization follows the sum, all
summands get the common factor that makes the mean square of these normalizations' trained scales 1.
"""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from baselines.core.lazy import tf
from baselines.network.fold import (
    JOINING,
    REARRANGING,
    affine,
    as_affine,
    is_homogeneous,
    not_understood,
    own_affine,
)
from baselines.network.kernels import scale_inputs, scale_outputs
from baselines.network.network import Network, joined
from baselines.network.nodes import ACTIVATIONS, ATTENTION, CONSTANT, INPUT, OF_EXAMPLES, Array, Node, Nodes, consumers


@dataclass(frozen=True)
class _Stream:
    """Positions of nodes that make or use values with a common "free" scale: a scale without effect on the logits."""

    normalizations: tuple[int, ...]  #: nodes that remove the scale
    makers: tuple[int, ...]  #: weight layers, and scales of normalizations, that set the scale
    takers: tuple[int, ...]  #: weight layers that read the scaled values
    shifts: tuple[int, ...]  #: nodes with signs and shifts that remain of folded batch normalization
    groups: int  #: number of channel groups with separate scales


def with_set_scales(network: Network, inputs: Array) -> Nodes:
    """Return a network with the free scales set (see the module); logits stay the same up to rounding.

    Batch normalization of `network` must be folded; `inputs` (n, ...) are training inputs. Raises `MeasureUnavailable`
    if a layer before a normalization changes the scale in an unknown way.
    """
    nodes = list(network.nodes)
    normalizations = [(place, node) for place, node in enumerate(nodes) if node.kind in OF_EXAMPLES]
    starts = [(node.sources[0], node) for _, node in normalizations] + normalizations
    streams = (_stream(network, start, node) for start, node in starts)
    for stream in dict.fromkeys(filter(None, streams)):
        squares = _squares(network, stream, inputs) if stream.normalizations else _own_squares(network, stream)
        factor = np.where(squares > 0, squares, 1.0) ** -0.5  # zeros have no scale
        for place in (*stream.makers, *stream.shifts):
            nodes[place] = _scaled(nodes[place], _spread(factor, network.shape(place)[-1]))
        for place in stream.takers:
            channels = network.shape(nodes[place].sources[0])[-1]
            nodes[place] = scale_inputs(nodes[place], _spread(1 / factor, channels))
        for place in stream.normalizations:
            nodes[place] = _with_epsilon(nodes[place], factor, network.shape(place)[-1])
    return replace(network.description, nodes=tuple(nodes))


def _stream(network: Network, start: int, norm: Node) -> _Stream | None:
    """Return the `_Stream` of values that contains the output at `start`; None if the output's scale is not free."""
    nodes = network.nodes
    places = _connected(nodes, start)
    makers = {place for place in places if not _passing(nodes, place)}
    entered = {number for place in places for number in consumers(nodes, place) if place not in _passing(nodes, number)}
    if {INPUT, len(nodes) - 1} & places:
        return None
    if any(_gives_fixed(nodes[number]) for number in makers) or any(_is_fixed(nodes[number]) for number in entered):
        return None
    normalizations = tuple(sorted(number for number in entered if nodes[number].kind in OF_EXAMPLES))
    takers = entered.difference(normalizations)
    shifts = tuple(sorted(number for number in places if nodes[number].kind == "BatchNormalization"))
    groups = math.gcd(*(_groups(nodes[number], network.shape(number)[-1]) for number in normalizations)) or 1
    strange = [number for number in takers if not nodes[number].has_kernel]
    strange += [number for number in makers if not (nodes[number].has_kernel or nodes[number].scales)]
    strange += [number for number in places if groups > 1 and nodes[number].kind in REARRANGING]
    if strange:
        raise not_understood(norm, f" through layer {nodes[strange[0]].name} ({nodes[strange[0]].kind})")
    return _Stream(normalizations, tuple(sorted(makers)), tuple(sorted(takers)), shifts, groups)


def _connected(nodes: tuple[Node, ...], start: int) -> set[int]:
    found, waiting = set[int](), [start]
    while waiting:
        place = waiting.pop()
        if place not in found:
            found.add(place)
            waiting += _passing(nodes, place)
            waiting += [number for number in consumers(nodes, place) if place in _passing(nodes, number)]
    return found


def _passing(nodes: tuple[Node, ...], place: int) -> tuple[int, ...]:
    """Return the inputs of the node at `place` whose common factor is also a factor of the node's output."""
    if place == INPUT:
        return ()
    node = nodes[place]
    if node.kind == ATTENTION:  # linear only in the values
        *others, value = node.sources
        return () if value in others else (value,)
    if node.kind == "Rescaling":
        return () if np.any(node.config["offset"]) else node.sources
    passes = is_homogeneous(node) or node.kind in JOINING | REARRANGING | {"BatchNormalization"}
    return node.sources if passes else ()


def _is_fixed(node: Node) -> bool:
    return node.kind in ACTIVATIONS | CONSTANT | {ATTENTION}


def _gives_fixed(node: Node) -> bool:
    """Whether the scale of a node's outputs is fixed, for example by a normalization without a trained scale."""
    return _is_fixed(node) or (node.kind in OF_EXAMPLES and own_affine(node)[0] is None)


def _groups(norm: Node, channels: int) -> int:
    groups = norm.config.get("groups", 1)
    return channels if groups == -1 else int(groups)


def _squares(network: Network, stream: _Stream, inputs: Array) -> Array:
    """Return the variance (groups,) of the inputs of a stream's normalizations, plus epsilon.

    For normalizations that do not centre, the mean square replaces the variance. The result is a mean over examples and
    over the stream's normalizations.
    """
    norms = [network.nodes[place] for place in stream.normalizations]

    def run(images: Any) -> list[Any]:
        entering = network.run({INPUT: images}, [norm.sources[0] for norm in norms])
        return [_moments(norm, tensor) for norm, tensor in zip(norms, entering, strict=True)]

    found = joined(network.in_batches(("squares", stream.normalizations), run, [inputs]))
    means = [
        moments.mean(axis=0, dtype=float).reshape(stream.groups, -1).mean(axis=1) + norm.config.get("epsilon", 0.0)
        for norm, moments in zip(norms, found, strict=True)
    ]
    return np.asarray(np.mean(means, axis=0))


def _own_squares(network: Network, stream: _Stream) -> Array:
    scales = [
        own_affine(network.nodes[place])[0] for place in stream.makers if network.nodes[place].kind in OF_EXAMPLES
    ]
    numbers = np.concatenate([scale[scale != 0] for scale in scales if scale is not None])
    return np.array([np.mean(numbers**2) if len(numbers) else 1.0])


def _moments(norm: Node, tensor: Any) -> Any:
    axes = norm.config["axis"]
    if norm.kind == "GroupNormalization":
        groups, channels = _groups(norm, tensor.shape[-1]), tensor.shape[-1]
        apart = tf.reshape(tensor, (-1, math.prod(tensor.shape[1:-1]), groups, channels // groups))
        return tf.math.reduce_variance(apart, axis=(1, 3))
    if norm.kind == "LayerNormalization":
        found = tf.math.reduce_variance(tensor, axis=axes)
    else:
        found = tf.reduce_mean(tf.square(tensor), axis=axes)
    return tf.reduce_mean(tf.reshape(found, (-1, math.prod(found.shape[1:]))), axis=1, keepdims=True)


def _spread(groups: Array, channels: int) -> Array:
    return np.repeat(groups, channels // len(groups))


def _scaled(node: Node, factor: Array) -> Node:
    if node.has_kernel:
        return scale_outputs(node, factor, np.zeros_like(factor))
    if node.kind == "BatchNormalization":  # the scale passes through it
        scale, shift = affine(node)
        return as_affine(node, scale, factor * shift)
    return replace(node, weights=tuple((array * factor).astype(np.float32) for array in node.weights))


def _with_epsilon(norm: Node, factor: Array, channels: int) -> Node:
    """Adapt a normalization's epsilon to inputs multiplied by `factor` (groups,), so that its outputs stay the same."""
    if "epsilon" not in norm.config:
        return norm
    epsilon = norm.config["epsilon"] * _spread(factor**2, _groups(norm, channels))
    if np.ptp(epsilon) == 0:
        return replace(norm, config=norm.config | {"epsilon": float(epsilon[0])})
    return replace(norm, config=norm.config | {"epsilon": epsilon.astype(np.float32)[:, None]})  # (groups, 1)
