"""Translates multi-head attention, with its projections, into one Keras layer `MultiHeadAttention`.

No Keras layer computes only the scores. So `Scores` keeps queries and keys until the translation reaches the weighted
sum of the values. Scores may have a bias, such as for relative positions. To add the bias, queries and keys are made
longer: each query gets a one-hot code of its position, and each key gets the biases for all query positions.
"""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from harness.format.inbound import INPUT
from harness.torch_import.network import TranslatedLayer, TranslatedNetwork
from harness.torch_import.pt2 import Array
from harness.torch_import.registry import UntranslatableError, translates
from harness.torch_import.values import (
    Group,
    Value,
    ValueAxis,
    aligned,
    arranged,
    flat,
    group_of,
    shape_of_example,
    size_of,
    sizes_of,
)

_KIND = "MultiHeadAttention"


@dataclass(frozen=True)
class Scores:
    """The scores of an attention: products of queries and keys, times `scale`, plus `bias`."""

    query: Value  #: queries (batch, ..., positions, features)
    key: Value  #: keys (batch, ..., positions, features)
    scale: Array  #: factors (n or 1); n is the product of the axes between batch and positions, such as heads
    bias: Array  #: added constants (n or 1, query positions or 1, key positions or 1)
    is_normalized: bool = False  #: whether a softmax over the keys follows

    def _with(self, value: Value, **changes: Any) -> Value:
        return replace(value, source=replace(self, **changes))

    def normalized(self, value: Value, dim: int) -> Value:
        """Return the scores `value`, marked as followed by a softmax over the keys."""
        if dim not in (-1, len(value.view) - 1) or size_of(value.view[-1]) != self.key.shape[-2]:
            raise UntranslatableError("is a softmax of scores along another axis than the keys")
        return self._with(value, is_normalized=True)

    def scaled(self, value: Value, numbers: Any) -> Value:
        """Return the scores `value` times a number, or times a number for each head."""
        if self.is_normalized:
            raise UntranslatableError("multiplies the weights of an attention by constants")
        factors = _of_each_example(value, numbers)
        of_heads = factors.reshape(*factors.shape[:-2], -1)
        if not (of_heads == of_heads[..., :1]).all():
            raise UntranslatableError("multiplies the scores of places by different numbers")
        return self._with(value, scale=self.scale * of_heads[..., 0], bias=self.bias * factors)

    def shifted(self, value: Value, numbers: Any) -> Value:
        """Return the scores in `value` with constants added to them."""
        if self.is_normalized:
            raise UntranslatableError("adds constants to the weights of an attention")
        return self._with(value, bias=self.bias + np.maximum(_of_each_example(value, numbers), -1e9))


def _of_each_example(value: Value, numbers: Any) -> Array:
    """Return the constants of one example, in the shape (n, queries, keys) of `Scores`; (1, 1, 1) for a number.

    Raises `UntranslatableError` if the constants differ between examples.
    """
    if np.size(numbers) == 1:
        return np.reshape(np.asarray(numbers, np.float64), (1, 1, 1))
    if not (axes := flat(value.view))[0].is_batch:
        raise UntranslatableError("has scores whose first axis is not the batch")
    apart = np.broadcast_to(numbers, value.shape).reshape(axes[0].size, -1)
    if not (apart == apart[0]).all():
        raise UntranslatableError("combines the scores of examples with different constants")
    return np.asarray(apart[0].reshape(-1, *value.shape[-2:]))


def product_of_heads(query: Value, key: Value) -> Value:
    """Return the scores of queries (..., positions, features) and keys (..., features, positions)."""
    key = key.permuted([*range(len(key.view) - 2), len(key.view) - 1, len(key.view) - 2])
    query, key = _matched(query, key, is_key=True)
    return Value(Scores(query, key, np.ones(1), np.zeros((1, 1, 1))), (), (*query.view[:-1], key.view[-2]))


def attend(network: TranslatedNetwork, weights: Value, value: Value) -> Value:
    """Return the output of an attention: the sum of values, weighted by the scores in `weights` after their softmax."""
    scores = weights.source
    if not isinstance(scores, Scores) or not scores.is_normalized:
        raise UntranslatableError("is a sum of values whose weights do not come from a softmax")
    return _attention(network, scores, value)


@translates("scaled_dot_product_attention")
def _scaled_dot_product_attention(
    network: TranslatedNetwork, query: Value, key: Value, value: Value, attn_mask: Array | None = None,
    dropout_p: float = 0.0, is_causal: bool = False, scale: float | None = None, **_: Any,
) -> Value:  # fmt: skip
    if dropout_p or is_causal:
        raise UntranslatableError("has dropout, or is causal")
    scores = product_of_heads(query, key.permuted([*range(len(key.view) - 2), -1, -2]))
    scores = scores.source.scaled(scores, scale or 1 / math.sqrt(query.shape[-1]))
    if attn_mask is not None:
        mask = np.where(attn_mask, 0.0, -1e9) if attn_mask.dtype == np.bool_ else attn_mask
        scores = scores.source.shifted(scores, mask)
    return _attention(network, scores.source, value)


@translates("einsum")
def _einsum(network: TranslatedNetwork, equation: str, tensors: list[Any], path: Any = None) -> Value:
    """Translate a product of queries and keys, or a sum of values weighted by scores."""
    inputs, _, output = equation.replace(" ", "").partition("->")
    one, _, other = inputs.partition(",")
    front = one[:-2]
    if len(tensors) == 2 and all(isinstance(tensor, Value) for tensor in tensors) and other.startswith(front):
        if output == front + one[-2] + other[-2] and one[-1] == other[-1]:
            return product_of_heads(tensors[0], tensors[1].permuted([*range(len(front)), -1, -2]))
        if output == front + one[-2] + other[-1] and one[-1] == other[-2]:
            return attend(network, *tensors)
    raise UntranslatableError(f"is another sum of products than an attention's ({equation})")


def _matched(query: Value, other: Value, *, is_key: bool) -> tuple[Value, Value]:
    """Divide axes of both values into the same elementary axes, and return the new values.

    These are all axes before the positions and, with `is_key`, the axis of the features.
    """
    ends = 1 if is_key else 0
    last, place = other.view[-1], other.view[-2]
    one = replace(query, view=(*query.view[:-2], query.view[-1])[: len(query.view) - 2 + ends])
    two = replace(other, view=(*other.view[:-2], last)[: len(other.view) - 2 + ends])
    if len(one.view) != len(two.view):
        raise UntranslatableError("is an attention of queries and keys with different axes")
    one, two = aligned(one, two)
    front = len(query.view) - 2
    query = replace(one, view=(*one.view[:front], query.view[-2], one.view[front] if is_key else query.view[-1]))
    return query, replace(two, view=(*two.view[:front], place, two.view[front] if is_key else last))


@dataclass(frozen=True)
class _Projection:
    """Queries, keys or values, computed by a dense layer."""

    input: Value  #: input of the dense layer in the form (windows, positions, channels) or (positions, channels)
    kernel: Array  #: kernel (channels, heads, features)
    bias: Array  #: bias (heads, features)


def _attention(network: TranslatedNetwork, scores: Scores, value: Value) -> Value:
    query, value = _matched(scores.query, value, is_key=False)
    query, key = _matched(query, scores.key, is_key=True)
    heads = _heads(query)
    front = flat(query.view[:-2])
    windows = tuple(axis for axis in front if not axis.is_batch and axis not in heads)
    inner = [axis for axis in front if not axis.is_batch]

    def by_windows(numbers: Array) -> Array:
        full = np.broadcast_to(numbers, (size_of(inner), *numbers.shape[1:])).reshape(-1, *numbers.shape[1:])
        apart = full.reshape(*[axis.size for axis in inner], *numbers.shape[1:])
        order = [inner.index(axis) for axis in (*windows, *heads)]
        ordered = apart.transpose(*order, *range(len(inner), apart.ndim))
        return ordered.reshape(size_of(windows), size_of(heads), *numbers.shape[1:])

    scale = by_windows(scores.scale)
    if not (scale == scale[:1]).all():
        shape = shape_of_example(query.view[:-2])
        query = network.scaled(query, np.broadcast_to(scores.scale, size_of(inner)).reshape(*shape, 1, 1))
        scale = np.ones_like(scale)
    made = [_projection(network, one, windows, heads) for one in (query, key, value)]
    scaled = scale[0][:, None]
    made[0] = replace(made[0], kernel=made[0].kernel * scaled, bias=made[0].bias * scaled)
    if scores.bias.size > 1:
        full = np.broadcast_to(scores.bias, (len(scores.bias), query.shape[-2], key.shape[-2]))
        made[:2] = _with_bias(network, made[0], made[1], by_windows(full))
    return _layer(network, made, windows, heads, query, value)


def _heads(query: Value) -> Group:
    """Return the axes of the heads: in PyTorch they come before the positions, in Keras' layer after them."""
    stored, places = flat(query.stored), query.view[-2]
    first = max((stored.index(axis) for axis in places), default=len(stored))
    return tuple(axis for axis in flat(query.view[:-2]) if axis in stored[first + 1 :])


def _projection(network: TranslatedNetwork, value: Value, windows: Group, heads: Group) -> _Projection:
    """Return the projection to queries, keys or values: their dense layer, or an identity if no such layer fits."""
    numbers, places = value.view[-1], value.view[-2]
    outer = (*([windows] if windows else []), places)
    wanted = (*heads, *numbers)
    last = value.stored[-1] if value.stored else ()
    layer, factor = _dense_of(network, value)
    if layer is not None and {*last} == {*wanted, *value.fixed} and all(axis in last for axis in value.fixed):
        kernel, *bias = layer.weights
        channels = group_of(kernel.shape[0])
        source = Value(layer.inputs[0], (*value.stored[:-1], channels), ())
        arrays = []
        for array in (kernel, bias[0] if bias else np.zeros((1, kernel.shape[1]))):
            apart = array.reshape(-1, *(axis.size for axis in last))
            chosen = apart[(slice(None), *(value.fixed.get(axis, slice(None)) for axis in last))]
            left = [axis for axis in last if axis not in value.fixed]
            order = [0, *(left.index(axis) + 1 for axis in wanted)]
            arrays.append(factor * chosen.transpose(order).reshape(-1, size_of(heads), size_of(numbers)))
        return _Projection(network.stored_as(source, (*outer, channels)), arrays[0], arrays[1][0])
    stored = network.stored_as(value, (*outer, wanted))
    n = size_of(wanted)
    identity = np.eye(n, dtype=np.float32).reshape(n, size_of(heads), size_of(numbers))
    return _Projection(stored, identity, np.zeros(identity.shape[1:], np.float32))


def _dense_of(network: TranslatedNetwork, value: Value) -> tuple[TranslatedLayer | None, float]:
    """If the value is a dense layer's output times a factor, return (layer, factor); otherwise (None, 1)."""
    number, factor = network.source(value), 1.0
    while number != INPUT and network.layers[number].class_name == "Rescaling":
        config, (number,) = network.layers[number].config, network.layers[number].inputs
        factor *= config["scale"] if config["offset"] == 0 else 0.0
    layer = None if number == INPUT else network.layers[number]
    return (layer, factor) if layer is not None and layer.class_name == "Dense" and factor else (None, 1.0)


def _with_bias(network: TranslatedNetwork, query: _Projection, key: _Projection, bias: Array) -> list[_Projection]:
    """Extend queries and keys so that their products include `bias` (windows, heads, queries, keys)."""
    n_windows, n_heads, n_queries, n_keys = bias.shape
    of_heads, of_windows = bias[:1], bias[:, :1] - bias[:1, :1]
    if not np.allclose(of_heads + of_windows, bias):
        raise UntranslatableError("has a bias of scores that is no sum of a bias for heads and a bias for windows")
    at_query, at_key = np.eye(n_queries)[None], np.eye(n_keys)[None]
    same = np.repeat(np.eye(n_queries)[:, None], n_heads, 1)  # (query positions, heads, query positions)
    kernel = of_heads[0].transpose(2, 0, 1)  # (key positions, heads, query positions)
    if of_windows.any():
        at_key = np.concatenate([np.repeat(at_key, n_windows, 0), of_windows[:, 0].transpose(0, 2, 1)], -1)
        kernel = np.concatenate([kernel, same])
    return [_extended(network, query, at_query, same), _extended(network, key, at_key, kernel)]


def _extended(network: TranslatedNetwork, part: _Projection, constants: Array, kernel: Array) -> _Projection:
    """Append `constants` to the projection's input and `kernel` to its kernel.

    `constants` have the shape (windows or 1, positions, n), `kernel` has the shape (n, heads, m).
    """
    sizes = sizes_of(part.input.stored)
    n = constants.shape[-1]
    made = group_of(sizes[-1] + n)
    outer = part.input.stored[:-1]
    inner = (flat(outer), part.input.stored[-1], ())
    value = network.stored_as(part.input, inner)
    stored = (inner[0], made, ())
    value = network.after(value, "ZeroPadding2D", {"padding": [[0, 0], [0, n]]}, stored=stored)
    value = network.stored_as(Value(value.source, stored, (*outer, made)), (*outer, made))
    full = np.zeros((*sizes[:-1], size_of(made)), np.float32)
    full[..., sizes[-1] :] = constants if len(sizes) > 2 else constants[0]
    value = network.shifted(replace(value, view=(*outer, made)), full)
    old, (channels, heads, numbers) = part.kernel, part.kernel.shape
    more = kernel.shape[-1]
    whole = np.zeros((channels + n, heads, numbers + more), np.float32)
    whole[:channels, :, :numbers], whole[channels:, :, numbers:] = old, kernel
    bias = np.concatenate([part.bias, np.zeros((heads, more), np.float32)], -1)
    return _Projection(value, whole, bias)


def _layer(
    network: TranslatedNetwork, made: list[_Projection], windows: Group, heads: Group, query: Value, value: Value
) -> Value:
    (_, n_heads, key_dim), (_, _, value_dim) = made[0].kernel.shape, made[2].kernel.shape
    scale = math.sqrt(key_dim)  # Keras divides by it
    weights: list[Array] = [array for part, factor in zip(made, (scale, 1, 1), strict=True)
               for array in (part.kernel * factor, part.bias * factor)]  # fmt: skip
    n = n_heads * value_dim
    weights += [np.eye(n, dtype=np.float32).reshape(n_heads, value_dim, n), np.zeros(n, np.float32)]
    config: dict[str, Any] = {"num_heads": n_heads, "key_dim": key_dim, "value_dim": value_dim, "output_shape": [n]}
    if windows:
        config["attention_axes"] = [2]
    sources = [network.source(part.input) for part in made]
    number = network.add(_KIND, sources[:1], config, weights, {"value": sources[2], "key": sources[1]})
    stored = (*([windows] if windows else []), query.view[-2], (*heads, *value.view[-1]))
    return Value(number, stored, (*query.view[:-1], value.view[-1]))


def is_open(network: TranslatedNetwork, value: Value) -> bool:
    """Whether a value is the output of all heads of an attention that has no output projection yet."""
    number = network.source(value)
    layer = None if number == INPUT else network.layers[number]
    if layer is None or layer.class_name != _KIND or value.fixed:
        return False
    n = layer.weights[6].shape[-1]
    is_identity = np.array_equal(layer.weights[6].reshape(n, n), np.eye(n))
    return is_identity and {*value.view[-1]} == {*value.stored[-1]}


def close(network: TranslatedNetwork, value: Value, kernel: Array, bias: Array | None) -> Value:
    """Use a dense layer as the output projection of the attention before it, and return the new output."""
    layer = network.layers[network.source(value)]
    made: Group = (ValueAxis(kernel.shape[1]),)
    arranged_kernel = arranged(kernel, (*value.view[-1], *made), (*value.stored[-1], *made))
    shape = (*layer.weights[6].shape[:2], kernel.shape[1])
    weights = [*layer.weights[:6], arranged_kernel.reshape(shape), np.zeros(shape[-1]) if bias is None else bias]
    config = layer.config | {"output_shape": [kernel.shape[1]]}
    number = network.add(_KIND, layer.inputs, config, weights, layer.keywords)
    return Value(number, (*value.stored[:-1], made), (*value.view[:-1], made))
