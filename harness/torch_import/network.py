"""Adds Keras layers for the operations of a PyTorch network, and keeps track of the axes of their outputs."""

import itertools
import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from harness.format.inbound import INPUT
from harness.torch_import.pt2 import Array
from harness.torch_import.registry import UntranslatableError
from harness.torch_import.values import (
    Group,
    Groups,
    Value,
    arranged,
    flat,
    group_of,
    shape_of_example,
    size_of,
    sizes_of,
)

#: Activations and layers whose outputs are never negative.
_NOT_NEGATIVE = {"relu", "relu6", "sigmoid", "hard_sigmoid", "softplus", "exponential", "softmax"}

#: Layers whose outputs are never negative if their inputs are never negative.
_KEEPING_SIGNS = {
    "Add", "AveragePooling2D", "Concatenate", "Cropping1D", "Cropping2D", "Dropout", "Flatten",
    "GlobalAveragePooling2D", "MaxPooling2D", "Maximum", "Multiply", "Permute", "Reshape", "ZeroPadding2D",
}  # fmt: skip


@dataclass(frozen=True)
class TranslatedLayer:
    """A Keras layer, called once, that results from the translation."""

    class_name: str
    config: dict[str, Any]  #: the layer's settings, without a name
    weights: tuple[Array, ...]  #: the layer's weights in the order of `get_weights()`
    inputs: tuple[int, ...]  #: numbers of the layers that compute the inputs; `INPUT` for the model's input
    keywords: dict[str, int]  #: name of an argument -> number of the layer that computes it
    path: str  #: path of the PyTorch module in which the layer's operation is

    @property
    def sources(self) -> tuple[int, ...]:
        """Numbers of all layers that compute the inputs and further arguments of this layer."""
        return (*self.inputs, *self.keywords.values())


@dataclass
class TranslatedNetwork:
    """The layers of a network during its translation. Some of them may not be needed for the output."""

    layers: list[TranslatedLayer] = field(default_factory=list)
    path: str = ""  #: path of the PyTorch module whose operation is being translated
    _known: dict[str, int] = field(default_factory=dict)  #: description of a layer without weights -> its number
    _sizes: dict[int, tuple[int, ...]] = field(default_factory=dict)  #: number of a layer from `after` -> output shape

    def add(
        self, class_name: str, inputs: Sequence[int], config: dict[str, Any] | None = None,
        weights: Sequence[Array] = (), keywords: dict[str, int] | None = None,
    ) -> int:  # fmt: skip
        """Add a layer and return its number. If an equal layer without weights exists, return that layer's number."""
        arrays = tuple(np.ascontiguousarray(array, np.float32) for array in weights)
        layer = TranslatedLayer(class_name, config or {}, arrays, tuple(inputs), keywords or {}, self.path)
        key = json.dumps([class_name, layer.config, inputs, layer.keywords])
        if weights or key not in self._known:
            self.layers.append(layer)
            number = len(self.layers) - 1
            return number if weights else self._known.setdefault(key, number)
        return self._known[key]

    def after(
        self, value: Value, class_name: str, config: dict[str, Any] | None = None, weights: Sequence[Array] = (),
        stored: Groups | None = None,
    ) -> Value:  # fmt: skip
        """Add a layer with the input `value` and return its output; the axes that PyTorch sees stay the same.

        `stored` are the axes of the layer's output; by default, the axes of its input.
        """
        number = self.add(class_name, [self.source(value)], config, weights)
        self._sizes[number] = sizes_of(value.stored if stored is None else stored)
        return replace(value, source=number, stored=value.stored if stored is None else stored)

    def map_after(
        self, value: Value, class_name: str, config: dict[str, Any], places: Sequence[int], *,
        channels: Group | None = None, weights: Sequence[Array] = (),
    ) -> Value:  # fmt: skip
        """Add a layer on a feature map with the channels last, and return its output (batch, channels, *places).

        `places` are the sizes of the spatial axes. `channels` are the axes of the output's channels; by default,
        the axes of the input's channels.
        """
        stored = (*map(group_of, places), value.stored[-1] if channels is None else channels)
        found = self.after(value, class_name, config, weights, stored)
        return Value(found.source, stored, (value.view[0], stored[-1], *stored[:-1]))

    def source(self, value: Value) -> int:
        """Return the number of the layer that computes a value; raises `UntranslatableError` if no layer does."""
        if not isinstance(value.source, int):
            raise UntranslatableError("uses scores of an attention, or lengths of vectors, in a way that no layer does")
        return value.source

    # Order of the axes

    def stored_as(self, value: Value, groups: Groups) -> Value:
        """Add permuting and reshaping layers until a value has the stored axes `groups`, and return the new value."""
        value = self.settled(value)
        have, wanted = flat(value.stored), flat(groups)
        if sorted(map(id, have)) != sorted(map(id, wanted)):
            raise UntranslatableError("mixes the batch with other axes")
        if have != wanted:
            chunks = _chunks(have, wanted)
            value = self._reshaped(value, tuple(chunks))
            order = sorted(range(len(chunks)), key=lambda number: wanted.index(chunks[number][0]))
            stored = tuple(chunks[number] for number in order)
            value = self.after(value, "Permute", {"dims": [number + 1 for number in order]}, stored=stored)
        return self._reshaped(value, groups)

    def _reshaped(self, value: Value, groups: Groups) -> Value:
        if sizes_of(value.stored) == sizes_of(groups):
            return replace(value, stored=groups)
        before = self.layers[value.source] if self.source(value) != INPUT else None
        if before is not None and before.class_name in ("Flatten", "Reshape"):
            (source,) = before.inputs
            if self._sizes.get(source) == sizes_of(groups):
                return replace(value, source=source, stored=groups)
            value = replace(value, source=source)
        if len(groups) == 1:
            return self.after(value, "Flatten", stored=groups)
        return self.after(value, "Reshape", {"target_shape": list(sizes_of(groups))}, stored=groups)

    def settled(self, value: Value) -> Value:
        """Add layers that compute the slices noted in `value.fixed`, and return the new value."""
        while value.fixed:
            (axis, index), *rest = value.fixed.items()
            left = tuple(tuple(one for one in group if one is not axis) for group in value.stored if group != (axis,))
            cut = self.cut(replace(value, fixed={}), (axis,), index, index + 1)
            value = self._reshaped(replace(cut, fixed=dict(rest)), left)
        return value

    def cut(self, value: Value, group: Group, start: int, stop: int) -> Value:
        """Cut a value to the slice `start:stop` of the axes `group`, taken as one axis; a new axis replaces them."""
        axes = tuple(axis for axis in flat(value.stored) if axis not in group)
        first = flat(value.stored).index(group[0])
        before, behind, made = axes[:first], axes[first:], group_of(stop - start)
        ends = [start, size_of(group) - stop]
        if before:
            value = self.stored_as(value, (before, group, behind))
            value = self.after(value, "Cropping2D", {"cropping": [[0, 0], ends]}, stored=(before, made, behind))
        else:
            value = self.stored_as(value, (group, behind))
            value = self.after(value, "Cropping1D", {"cropping": ends}, stored=(made, behind))
        return value

    def channels_last(self, value: Value) -> Value:
        """Store a feature map (batch, channels, ...) as (..., channels), as Keras needs it. Return the value."""
        batch, channels, *places = value.view
        if len(batch) != 1 or not batch[0].is_batch:
            raise UntranslatableError("has an input whose first axis is not the batch")
        return self.stored_as(value, (*places, channels))

    def with_last(self, value: Value, last: Group) -> Value:
        """Add layers until the last stored axis consists of the axes `last`, in any order; return the new value."""
        value = self.settled(value)
        if value.stored and {*value.stored[-1]} == {*last}:
            return value
        inner = tuple(axis for axis in flat(value.stored) if axis in last)
        if size_of(inner) != size_of(last):
            raise UntranslatableError("sums over the batch")
        outer = [tuple(axis for axis in group if axis not in last) for group in value.stored]
        return self.stored_as(value, (*(group for group in outer if group), inner))

    # Constants

    def shifted(self, value: Value, constants: Any) -> Value:
        """Return the value plus `constants`, which are a number or an array that broadcasts as in PyTorch."""
        return self._with_constants(value, np.asarray(constants), is_factor=False)

    def scaled(self, value: Value, constants: Any) -> Value:
        """Return the value times `constants`, which are a number or an array that broadcasts as in PyTorch."""
        return self._with_constants(value, np.asarray(constants), is_factor=True)

    def _with_constants(self, value: Value, array: Array, *, is_factor: bool) -> Value:
        value = replace(value, view=((),) * (array.ndim - len(value.view)) + value.view)  # new axes of size 1
        array = _without_batch(array, value)
        if array.size == 1:
            number = float(array.reshape(()))
            config = {"scale": number, "offset": 0.0} if is_factor else {"scale": 1.0, "offset": number}
            return self.after(value, "Rescaling", config)
        value = self.settled(value)
        axes = flat(value.view)
        shape = shape_of_example(value.view)
        if np.broadcast_shapes(array.shape, shape) != shape:
            raise UntranslatableError(f"repeats a value of shape {value.shape} for constants of shape {array.shape}")
        full = np.broadcast_to(array, shape)
        numbers = arranged(full, tuple(a for a in axes if not a.is_batch), flat(value.stored))
        numbers = numbers.reshape(sizes_of(value.stored)).astype(np.float32)
        differing = {axis for group, n in zip(value.view, array.shape, strict=True) if n > 1 for axis in group}
        if differing <= {*value.stored[-1]}:
            return self._by_channel(value, numbers.reshape(-1, numbers.shape[-1])[0], is_factor=is_factor)
        return self._by_place(value, numbers, is_factor=is_factor)

    def _by_channel(self, value: Value, numbers: Array, *, is_factor: bool) -> Value:
        """Multiply a value by `numbers` (channels,), or add these numbers to it, by a layer of batch normalization."""
        config = {"axis": -1, "epsilon": 0.0, "scale": is_factor, "center": not is_factor}
        unchanged = [np.zeros_like(numbers), np.ones_like(numbers)]
        return self.after(value, "BatchNormalization", config, [numbers, *unchanged])

    def _by_place(self, value: Value, numbers: Array, *, is_factor: bool) -> Value:
        letters = "bcdefgh"[: numbers.ndim]
        config: dict[str, Any] = {"equation": f"a{letters},{letters}->a{letters}", "output_shape": list(numbers.shape)}
        if is_factor:
            return self.after(value, "EinsumDense", config, [numbers])
        before = self.layers[value.source] if self.source(value) != INPUT else None
        config["bias_axes"] = letters
        if before is not None and before.class_name == "EinsumDense" and before.config == config:
            value = replace(value, source=before.inputs[0])  # one layer for both constants, as for class tokens
            numbers = numbers + before.weights[1]
        return self.after(value, "EinsumDense", config, [np.ones_like(numbers), numbers])

    def is_not_negative(self, value: Value) -> bool:
        """Whether the layers that compute a value, such as a ReLU, guarantee that all its numbers are at least 0."""
        pending = [self.source(value)]
        while pending:
            number = pending.pop()
            if number == INPUT:
                return False
            layer = self.layers[number]
            if layer.config.get("activation") in _NOT_NEGATIVE or layer.class_name == "ReLU":
                continue
            if layer.class_name not in _KEEPING_SIGNS:
                return False
            pending += layer.sources
        return True


def _chunks(have: Group, wanted: Group) -> list[Group]:
    """Divide `have` into the longest runs of axes that also follow each other in `wanted`."""
    chunks = [have[:1]]
    for before, axis in itertools.pairwise(have):
        if wanted.index(axis) == wanted.index(before) + 1:
            chunks[-1] = (*chunks[-1], axis)
        else:
            chunks.append((axis,))
    return chunks


def _without_batch(array: Array, value: Value) -> Array:
    """Return constants for a batch of size 1; raises `UntranslatableError` if they differ between examples."""
    array = array.reshape((1,) * (len(value.view) - array.ndim) + array.shape)
    for place, group in enumerate(value.view):
        batch = [axis for axis in group if axis.is_batch]
        if not batch or array.shape[place] == 1 or array.shape[place] * batch[0].size == size_of(group):
            continue
        if group[0] is not batch[0] or array.shape[place] != size_of(group):
            raise UntranslatableError("combines the batch with constants of another shape")
        parts = np.split(array, batch[0].size, axis=place)
        if not all(np.array_equal(part, parts[0]) for part in parts):
            raise UntranslatableError("combines the examples of a batch with different constants")
        array = parts[0]
    return array
