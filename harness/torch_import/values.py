"""Values of a PyTorch graph, with two lists of axes: as PyTorch sees them, and as a Keras layer stores them.

An axis in a list is a group: a product of elementary axes. Both lists have the same elementary axes, with two
exceptions: only PyTorch's list has the batch, and only the stored list has axes from which PyTorch has selected an
index. Layers store the channels last. Views, permutations and slices change only PyTorch's axes. A layer that permutes
is added only when an operation needs the stored axes in another order.
"""

import functools
import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from harness.torch_import.pt2 import Array
from harness.torch_import.registry import UntranslatableError


@dataclass(frozen=True, eq=False)
class ValueAxis:
    """An axis, or a factor of an axis that a reshaping has divided. Two axes of the same size are not equal."""

    size: int
    is_batch: bool = False


#: The product of elementary axes; the first varies slowest. An empty group has size 1.
Group = tuple[ValueAxis, ...]
Groups = tuple[Group, ...]


@dataclass(frozen=True)
class Value:
    """The result of an operation in the graph."""

    #: The number of the layer that computes the value, or `INPUT`; a `Scores` or `Length` if no layer computes it.
    source: Any
    stored: Groups  #: the axes of the layer's output, without the batch
    view: Groups  #: the axes that PyTorch sees, with the batch
    fixed: dict[ValueAxis, int] = field(default_factory=dict)  #: axis in `stored` -> the index that is selected from it

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape that PyTorch sees."""
        return sizes_of(self.view)

    def reshaped(self, shape: Sequence[int]) -> "Value":
        """Return the value with another shape; raises `UntranslatableError` if the shape divides an axis unevenly."""
        try:
            return self._regrouped(shape)
        except UntranslatableError:
            joined = self._joined()
            if len(flat(joined.view)) == len(flat(self.view)):
                raise
            return joined._regrouped(shape)

    def _joined(self) -> "Value":
        """Join axes that are neighbours in both `view` and `stored`, and return the new value."""
        for group in self.view:
            for pair in itertools.pairwise(group):
                if any(pair in itertools.pairwise(stored) for stored in self.stored):
                    joined = functools.partial(_with_one, pair, ValueAxis(size_of(pair)))
                    return self._with_groups(joined)._joined()
        return self

    def _with_groups(self, change: Callable[[Group], Group]) -> "Value":
        return replace(self, stored=tuple(map(change, self.stored)), view=tuple(map(change, self.view)))

    def _regrouped(self, shape: Sequence[int]) -> "Value":
        if shape.count(-1):
            rest = math.prod(self.shape) // -math.prod(shape)
            shape = [rest if size == -1 else size for size in shape]
        value, groups = self, list[Group]()
        waiting = list(flat(self.view))
        for size in shape:
            group: list[ValueAxis] = []
            while (have := size_of(group)) < size or (waiting and waiting[0].is_batch and waiting[0].size == 1):
                if not waiting or size % have:
                    raise _cut(self.shape, shape)
                axis = waiting.pop(0)
                if have * axis.size > size:
                    value, parts = value.split(axis, size // have)
                    axis, rest_of_axis = parts
                    waiting.insert(0, rest_of_axis)
                group.append(axis)
            if have != size:
                raise _cut(self.shape, shape)
            groups.append(tuple(group))
        return replace(value, view=tuple(groups))

    def split(self, axis: ValueAxis, outer: int) -> tuple["Value", tuple[ValueAxis, ValueAxis]]:
        """Divide an axis into a slow axis of size `outer` and a fast axis. Return the value and both axes.

        Raises `UntranslatableError` for the batch axis, or if `outer` does not divide the axis.
        """
        if axis.is_batch or axis.size % outer:
            raise UntranslatableError(
                f"divides an axis of {axis.size}{', the batch,' * axis.is_batch} into {outer} parts"
            )
        parts = (ValueAxis(outer), ValueAxis(axis.size // outer))

        def divided(group: Group) -> Group:
            return tuple(part for one in group for part in (parts if one is axis else (one,)) if part.size > 1)

        return self._with_groups(divided), parts

    def permuted(self, order: Sequence[int]) -> "Value":
        """Return the value with PyTorch's axes in another order; `order` lists their old positions."""
        return replace(self, view=tuple(self.view[axis] for axis in order))

    def with_axis(self, place: int) -> "Value":
        """Return the value with a new axis of size 1 at a position."""
        return replace(self, view=(*self.view[:place], (), *self.view[place:]))

    def without_axis(self, place: int) -> "Value":
        """Return the value without the axis of size 1 at a position."""
        return replace(self, view=self.view[:place] + self.view[place + 1 :])

    def part(self, place: int, start: int, step: int, count: int) -> "Value | None":
        """Return a slice of an axis: `count` entries from `start` on, in steps of `step`; None if this needs a layer.

        If n divides the size of the axis, two kinds of slices need no layer: every n-th entry, and the k-th of n equal
        parts.
        """
        size = self.shape[place]
        if count == size:
            return self
        if step == 1 and size % count == 0 and start % count == 0:
            parts, chosen = (size // count, count), 0
        elif count * step == size and start < step:
            parts, chosen = (count, step), 1
        else:
            return None
        try:
            value = self.reshaped([*self.shape[:place], *parts, *self.shape[place + 1 :]])
        except UntranslatableError:
            return None
        group = value.view[place + chosen]
        if any(axis.is_batch for axis in group):
            return None
        index = start // count if chosen == 0 else start
        fixed = dict(value.fixed)
        for axis in reversed(group):
            fixed[axis], index = index % axis.size, index // axis.size
        view = value.view[: place + chosen] + value.view[place + chosen + 1 :]
        return replace(value, view=view, fixed=fixed)


def _with_one(pair: tuple[ValueAxis, ValueAxis], axis: ValueAxis, group: Group) -> Group:
    """Replace the neighbouring axes `pair` of a group by `axis`; return a group without this pair unchanged."""
    if pair not in itertools.pairwise(group):
        return group
    place = group.index(pair[0])
    return (*group[:place], axis, *group[place + 2 :])


def _cut(have: Sequence[int], wanted: Sequence[int]) -> UntranslatableError:
    return UntranslatableError(f"turns shape {tuple(have)} into {tuple(wanted)}, which divides axes in another way")


def with_group(groups: Groups, place: int, group: Group) -> Groups:
    """Return the groups of axes, with the group at position `place` replaced by `group`."""
    return (*groups[:place], group, *groups[place + 1 :])


def shape_of_example(groups: Groups) -> tuple[int, ...]:
    """Return the size of each group of axes for a single example: the batch axis counts as 1."""
    return tuple(size_of([axis for axis in group if not axis.is_batch]) for group in groups)


def flat(groups: Groups) -> Group:
    """Return the elementary axes of all groups, in order."""
    return tuple(axis for group in groups for axis in group)


def size_of(group: Sequence[ValueAxis]) -> int:
    """Return the size of a group of axes: the product of their sizes."""
    return math.prod(axis.size for axis in group)


def sizes_of(groups: Groups) -> tuple[int, ...]:
    """Return the size of each group of axes."""
    return tuple(map(size_of, groups))


def group_of(size: int) -> Group:
    """Return a group with a new axis of this size; for size 1, a group without axes."""
    return (ValueAxis(size),) if size > 1 else ()


def aligned(one: Value, other: Value) -> tuple[Value, Value]:
    """Divide the axes of both values into the same elementary axes, for an operation on each pair of numbers.

    An axis of size 1 stays, because PyTorch broadcasts it. Raises `UntranslatableError` if the shapes do not fit.
    """
    rank = max(len(one.view), len(other.view))
    one, other = (replace(v, view=((),) * (rank - len(v.view)) + v.view) for v in (one, other))
    for place in range(rank):
        if one.view[place] and other.view[place]:
            one, other = _with_same_axes(one, other, place)
    return one, other


def _with_same_axes(one: Value, other: Value, place: int) -> tuple[Value, Value]:
    """Divide axis number `place` of both values into the same elementary axes.

    Elementary axes of `other` are replaced by the elementary axes of `one` that have the same size.
    """
    if one.shape[place] != other.shape[place]:
        raise UntranslatableError(f"combines shapes {one.shape} and {other.shape}")
    number = 0
    while number < len(one.view[place]):
        mine, theirs = one.view[place][number], other.view[place][number]
        if mine.size > theirs.size:
            one, _ = one.split(mine, theirs.size)
        elif mine.size < theirs.size:
            other, _ = other.split(theirs, mine.size)
        elif mine.is_batch != theirs.is_batch:
            raise UntranslatableError("combines the batch with another axis")
        else:
            other, number = renamed(other, {theirs: mine}), number + 1
    return one, other


def renamed(value: Value, names: dict[ValueAxis, ValueAxis]) -> Value:
    """Return a value with its axes replaced by `names`: old axis -> new axis."""
    stored, view = (tuple(tuple(names.get(axis, axis) for axis in group) for group in groups)
                    for groups in (value.stored, value.view))  # fmt: skip
    return replace(value, stored=stored, view=view, fixed={names.get(a, a): i for a, i in value.fixed.items()})


def arranged(array: Array, have: Group, wanted: Group) -> Array:
    """Reshape `array` to the axes `have`, transpose it to the axes `wanted`, and return it."""
    places = [have.index(axis) for axis in wanted]
    return np.asarray(array).reshape([axis.size for axis in have]).transpose(places)
