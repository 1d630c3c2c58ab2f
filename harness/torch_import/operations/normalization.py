"""Translates normalizations, PReLU and dropout."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from harness.torch_import.network import TranslatedNetwork
from harness.torch_import.pt2 import Array
from harness.torch_import.registry import EVALUATE, UntranslatableError, translates
from harness.torch_import.values import Group, Value, arranged, flat, size_of, with_group


@translates("batch_norm", "instance_norm", "_native_batch_norm_legit_no_training", "native_batch_norm")
def _batch_norm(
    network: TranslatedNetwork, input: Value, weight: Array | None = None, bias: Array | None = None,
    running_mean: Array | None = None, running_var: Array | None = None, eps: float = 1e-5, **other: Any,
) -> Value:  # fmt: skip
    if running_mean is None or running_var is None or other.get("use_input_stats"):
        raise UntranslatableError("normalizes by the statistics of the batch")
    if other.get("training"):
        raise UntranslatableError("normalizes by the statistics of the batch", EVALUATE)
    config = {"axis": -1, "epsilon": eps, "scale": weight is not None, "center": bias is not None}
    weights = [array for array in (weight, bias, running_mean, running_var) if array is not None]
    value = network.with_last(input, input.view[1])
    if value.stored[-1] != input.view[1]:
        weights = [arranged(array, input.view[1], value.stored[-1]).reshape(-1) for array in weights]
    return network.after(value, "BatchNormalization", config, weights)


@translates("layer_norm")
def _layer_norm(
    network: TranslatedNetwork, input: Value, normalized_shape: list[int], weight: Array | None = None,
    bias: Array | None = None, eps: float = 1e-5, **_: Any,
) -> Value:  # fmt: skip
    axes = flat(input.view[-len(normalized_shape) :])
    value = network.settled(input)
    if not _is_apart(value, axes):
        value = network.with_last(value, axes)
    places = [number for number, group in enumerate(value.stored) if group and group[0] in axes]
    made = flat(tuple(value.stored[place] for place in places))
    shape = [size_of(value.stored[place]) for place in places]
    weights = [arranged(array, axes, made).reshape(shape) for array in (weight, bias) if array is not None]
    config: dict[str, Any] = {"epsilon": eps, "scale": weight is not None, "center": bias is not None}
    config["axis"] = -1 if places == [len(value.stored) - 1] else [place + 1 for place in places]
    return network.after(value, "LayerNormalization", config, weights)


def _is_apart(value: Value, axes: Group) -> bool:
    """Whether no stored axis mixes axes in `axes` with other axes."""
    groups = [group for group in value.stored if group]
    return all(len({axis in axes for axis in group}) == 1 for group in groups)


@translates("group_norm")
def _group_norm(
    network: TranslatedNetwork, input: Value, num_groups: int, weight: Array | None = None, bias: Array | None = None,
    eps: float = 1e-5, **_: Any,
) -> Value:  # fmt: skip
    value = network.channels_last(input)
    config = {
        "groups": num_groups, "axis": -1, "epsilon": eps, "scale": weight is not None, "center": bias is not None,
    }  # fmt: skip
    return network.after(value, "GroupNormalization", config, [a for a in (weight, bias) if a is not None])


#: A lower bound of lengths is ignored up to this size: it only prevents a division by 0.
SMALL = 1e-6


@dataclass(frozen=True)
class Length:
    """The Euclidean lengths of vectors along an axis of a value. They can be used only to divide this value."""

    of: Value
    dim: int


@translates("linalg_vector_norm")
def _length(
    network: TranslatedNetwork, x: Value, ord: float = 2, dim: Any = None, keepdim: bool = False, **_: Any
) -> Value:
    """Return the lengths of vectors, but add no layer: only a division by lengths becomes a layer (`normalized`)."""
    if ord != 2 or dim is None or len(dim) != 1 or not keepdim:
        raise UntranslatableError("is another norm than the Euclidean norm along one axis")
    place = dim[0] % len(x.view)
    return replace(x, source=Length(x, place), view=with_group(x.view, place, ()))


@translates("clamp_min")
def _clamp_min(network: TranslatedNetwork, x: Value, min: float) -> Value:
    """Translate a lower bound of 0 into a ReLU. Ignore a bound of up to `SMALL` on the lengths of vectors."""
    if isinstance(x.source, Length) and 0 < min <= SMALL:
        return x
    if min != 0:
        raise UntranslatableError(f"cuts numbers off below {min}")
    return network.after(x, "ReLU")


@translates("expand_as")
def _expand_as(network: TranslatedNetwork, x: Value, other: Value) -> Value:
    return x


def normalized(network: TranslatedNetwork, value: Value, length: Length) -> Value:
    """Return vectors divided by their lengths; the layer is `UnitNormalization`."""
    if value != length.of:
        raise UntranslatableError("divides by the length of another value")
    return network.after(network.with_last(value, value.view[length.dim]), "UnitNormalization", {"axis": -1})


@translates("prelu")
def _prelu(network: TranslatedNetwork, x: Value, weight: Array) -> Value:
    value = network.channels_last(x)
    n_channels = size_of(value.stored[-1])
    slopes = np.broadcast_to(weight, [n_channels]).reshape([*[1] * (len(value.stored) - 1), n_channels])
    return network.after(value, "PReLU", {"shared_axes": list(range(1, len(value.stored)))}, [slopes])


@translates("dropout", "alpha_dropout", "feature_dropout")
def _dropout(network: TranslatedNetwork, input: Value, p: float, train: bool = False) -> Value:
    if train and p:
        raise UntranslatableError("drops numbers", EVALUATE)
    return network.after(input, "Dropout", {"rate": p}) if isinstance(input.source, int) else input
