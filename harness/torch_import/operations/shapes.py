"""Translates operations that change the shape or the order of axes, or select parts. Most of them need no layer."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from harness.torch_import.network import TranslatedNetwork
from harness.torch_import.operations.convolutions import pad_places
from harness.torch_import.registry import UntranslatableError, translates
from harness.torch_import.values import Groups, Value, aligned, flat, group_of, with_group


@translates("view", "reshape", "_unsafe_view", "unflatten", "flatten")
def _reshape(
    network: TranslatedNetwork, x: Value, size: Any = None, shape: Any = None, dim: int | None = None,
    sizes: Any = None, start_dim: int = 0, end_dim: int = -1,
) -> Value:  # fmt: skip
    rank = len(x.view)
    if size is not None or shape is not None:
        return x.reshaped([*(shape if size is None else size)])
    if dim is not None:
        first, last, middle = dim % rank, dim % rank, list(sizes)
    else:
        first, last = start_dim % rank, end_dim % rank
        middle = [math.prod(x.shape[first : last + 1])]
    return x.reshaped([*x.shape[:first], *middle, *x.shape[last + 1 :]])


@translates("view_as", "reshape_as")
def _reshape_as(network: TranslatedNetwork, x: Value, other: Any) -> Value:
    return x.reshaped(other.shape)


@translates("permute")
def _permute(network: TranslatedNetwork, x: Value, dims: Sequence[int]) -> Value:
    return x.permuted([dim % len(dims) for dim in dims])


@translates("transpose", "swapaxes", "t")
def _transpose(network: TranslatedNetwork, x: Value, **axes: int) -> Value:
    """Translate a swap of two axes: the values of `axes`, by default the first two axes."""
    one, other = axes.values() or (0, 1)
    order = list(range(len(x.view)))
    order[one], order[other] = order[other], order[one]
    return x.permuted(order)


@translates("unsqueeze")
def _unsqueeze(network: TranslatedNetwork, x: Value, dim: int) -> Value:
    return x.with_axis(dim % (len(x.view) + 1))


@translates("squeeze")
def _squeeze(network: TranslatedNetwork, x: Value, dim: Any = None) -> Value:
    dims = range(len(x.view)) if dim is None else (dim if isinstance(dim, list) else [dim])
    for place in sorted((axis % len(x.view) for axis in dims), reverse=True):
        x = x.without_axis(place) if x.view[place] == () else x
    return x


@translates("expand")
def _expand(network: TranslatedNetwork, x: Value, size: Sequence[int], **_: Any) -> Value:
    """Return the value unchanged if its shape is `size`; refuse any other size."""
    if len(size) != len(x.view) or any(n not in (-1, have) for n, have in zip(size, x.shape, strict=True)):
        raise UntranslatableError("repeats a computed value")
    return x


@translates("slice")
def _slice(
    network: TranslatedNetwork, x: Value, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1
) -> Value:
    dim %= len(x.view)
    chosen = range(x.shape[dim])[start:end:step]
    return _part_of(network, x, dim, chosen.start, step, len(chosen))


@translates("select")
def _select(network: TranslatedNetwork, x: Value, dim: int, index: int) -> Value:
    dim %= len(x.view)
    return _part_of(network, x, dim, index % x.shape[dim], 1, 1).without_axis(dim)


def _part_of(network: TranslatedNetwork, x: Value, dim: int, start: int, step: int, count: int) -> Value:
    """Return a slice of an axis: `count` entries from `start` on, in steps of `step`. Add a layer if necessary."""
    found = x.part(dim, start, step, count) if count else None
    if found is not None:
        return found.with_axis(dim) if len(found.view) < len(x.view) else found
    if step != 1 or not count:
        raise UntranslatableError(f"takes places in steps of {step} from an axis of {x.shape[dim]}")
    cut = network.cut(network.settled(x), x.view[dim], start, start + count)
    made = tuple(axis for axis in flat(cut.stored) if axis not in flat(x.stored))
    return replace(cut, view=with_group(x.view, dim, made))


@translates("split", "split_with_sizes")
def _split(
    network: TranslatedNetwork, x: Value, split_size: Any = None, split_sizes: Any = None, dim: int = 0
) -> list[Value]:
    dim %= len(x.view)
    sizes = split_sizes or split_size
    if not isinstance(sizes, list):
        sizes = [min(sizes, x.shape[dim] - start) for start in range(0, x.shape[dim], sizes)]
    starts = np.cumsum([0, *sizes])[:-1].tolist()
    return [_part_of(network, x, dim, start, 1, size) for start, size in zip(starts, sizes, strict=True)]


@translates("chunk")
def _chunk(network: TranslatedNetwork, x: Value, chunks: int, dim: int = 0) -> list[Value]:
    return _split(network, x, math.ceil(x.shape[dim] / chunks), dim=dim)


@translates("unbind")
def _unbind(network: TranslatedNetwork, x: Value, dim: int = 0) -> list[Value]:
    return [_select(network, x, dim, index) for index in range(x.shape[dim])]


@translates("roll")
def _roll(network: TranslatedNetwork, x: Value, shifts: Any, dims: Any = ()) -> Value:
    for shift, dim in zip(shifts, dims, strict=True):
        size = x.shape[dim]
        if start := -shift % size:
            end, beginning = _part_of(network, x, dim, start, 1, size - start), _part_of(network, x, dim, 0, 1, start)
            x = _cat(network, [end, beginning], dim)
    return x


@translates("cat", "concat")
def _cat(network: TranslatedNetwork, tensors: list[Any], dim: int = 0) -> Value:
    """Translate a concatenation. To append constants, such as class tokens, pad with zeros and add the constants."""
    values = [one for one in tensors if isinstance(one, Value)]
    dim %= len(values[0].view)
    if len(values) < len(tensors):
        return _with_constants(network, tensors, dim)
    if len(values) == 1:
        return values[0]
    first = _with_own_axis(network, values[0], dim)
    place = len(first.stored) - 1 - first.stored[::-1].index(first.view[dim])
    sources = [network.source(first)]
    for value in values[1:]:
        first, other = (replace(one, view=with_group(one.view, dim, ())) for one in (first, value))
        first, other = aligned(first, other)
        other = network.stored_as(other, with_group(first.stored, place, value.view[dim]))
        sources.append(network.source(other))
    made = group_of(sum(value.shape[dim] for value in values))
    number = network.add("Concatenate", sources, {"axis": place + 1})
    return Value(number, with_group(first.stored, place, made), with_group(first.view, dim, made))


@translates("stack")
def _stack(network: TranslatedNetwork, tensors: list[Any], dim: int = 0) -> Value:
    place = dim % (len(tensors[0].shape) + 1)
    return _cat(network, [one.with_axis(place) if isinstance(one, Value) else np.expand_dims(one, place)
                         for one in tensors], place)  # fmt: skip


def _with_own_axis(network: TranslatedNetwork, value: Value, dim: int) -> Value:
    """Add layers, if necessary, so that PyTorch's axis `dim` is also a stored axis; return the new value."""
    value = network.settled(value)
    group = value.view[dim]
    if group in value.stored and group:
        return value
    rest = [tuple(axis for axis in other if axis not in group) for other in value.stored]
    outer = [other for other, before in zip(rest, value.stored, strict=True) if other or not before]
    is_first = group and flat(value.stored)[: len(group)] == group
    return network.stored_as(value, (group, *outer) if is_first else (*outer, group))


def _with_constants(network: TranslatedNetwork, tensors: list[Any], dim: int) -> Value:
    (number,) = [number for number, one in enumerate(tensors) if isinstance(one, Value)]
    value = tensors[number]
    before, behind = (sum(one.shape[dim] for one in part) for part in (tensors[:number], tensors[number + 1 :]))
    empty = [np.asarray(one) if not isinstance(one, Value) else np.zeros([1, *value.shape[1:]]) for one in tensors]
    count = max(len(one) for one in empty)
    constants = np.concatenate([np.broadcast_to(one, (count, *one.shape[1:])) for one in empty], dim)
    return network.shifted(_padded(network, value, dim, before, behind), constants)


def _padded(network: TranslatedNetwork, x: Value, dim: int, before: int, behind: int) -> Value:
    value, group = network.settled(x), x.view[dim]
    axes = tuple(axis for axis in flat(value.stored) if axis not in group)
    is_first = flat(value.stored)[: len(group)] == group
    made = group_of(x.shape[dim] + before + behind)
    stored: Groups = (made, axes) if is_first else (axes, made, ())
    value = network.stored_as(value, with_group(stored, stored.index(made), group))
    if is_first:
        found = network.after(value, "ZeroPadding1D", {"padding": [before, behind]}, stored=stored)
    else:
        found = network.after(value, "ZeroPadding2D", {"padding": [[0, 0], [before, behind]]}, stored=stored)
    return Value(found.source, stored, with_group(x.view, dim, made))


@translates("pad", "constant_pad_nd")
def _pad(
    network: TranslatedNetwork, x: Value, pad: Sequence[int], mode: str = "constant", value: float | None = None
) -> Value:
    if mode != "constant" or value:
        raise UntranslatableError(f"pads with other numbers than zeros ({mode})")
    ends = {len(x.view) - 1 - k: (pad[2 * k], pad[2 * k + 1]) for k in range(len(pad) // 2)}
    ends = {dim: sides for dim, sides in ends.items() if any(sides)}
    if min((side for sides in ends.values() for side in sides), default=0) < 0:
        raise UntranslatableError("pads by negative numbers")
    if len(x.view) == 4 and ends and set(ends) <= {2, 3}:
        return pad_places(network, network.channels_last(x), [ends.get(dim, (0, 0)) for dim in (2, 3)])
    for dim, sides in ends.items():
        x = _padded(network, x, dim, *sides)
    return x
