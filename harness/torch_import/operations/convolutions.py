"""Translates convolutions and dense layers."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.torch_import.network import TranslatedNetwork
from harness.torch_import.operations.attention import close, is_open
from harness.torch_import.pt2 import Array
from harness.torch_import.registry import UntranslatableError, translates
from harness.torch_import.values import Value, arranged, group_of, size_of, sizes_of


@translates("conv1d", "conv2d", "conv3d")
def _convolution(
    network: TranslatedNetwork, input: Value, weight: Array, bias: Array | None = None, stride: Any = 1,
    padding: Any = 0, dilation: Any = 1, groups: int = 1,
) -> Value:  # fmt: skip
    """Translate a convolution. If each input channel is a group, the result is a depthwise convolution."""
    rank = weight.ndim - 2
    value = network.channels_last(input)
    strides, dilations = each(stride, rank), each(dilation, rank)
    if max(strides) > 1 and max(dilations) > 1:
        raise UntranslatableError("has both strides and dilation, which Keras does not combine")
    size = weight.shape[2:]
    wide = [step * (n - 1) for n, step in zip(size, dilations, strict=True)]
    if padding == "same" or padding == "valid":
        pads = [n // 2 for n in wide] if padding == "same" else [0] * rank
        if padding == "same" and any(n % 2 for n in wide):
            raise UntranslatableError("pads one side more than the other")
    else:
        pads = each(padding, rank)
    is_same = max(strides) == 1 and all(2 * pad == n for pad, n in zip(pads, wide, strict=True))
    places = [
        (n + 2 * pad - w - 1) // step + 1
        for n, pad, w, step in zip(sizes_of(value.stored), pads, wide, strides, strict=False)
    ]
    if not is_same:
        value = pad_places(network, value, [(pad, pad) for pad in pads])
    config: dict[str, Any] = {
        "kernel_size": [*size], "strides": strides, "dilation_rate": dilations, "use_bias": bias is not None,
        "padding": "same" if is_same else "valid",
    }  # fmt: skip
    n_outputs, per_group = weight.shape[:2]
    n_inputs = groups * per_group
    kernel = np.moveaxis(weight, (1, 0), (-2, -1))
    if groups > 1 and per_group == 1 and rank < 3 and n_outputs % groups == 0:
        kind, multiplier = f"DepthwiseConv{rank}D", n_outputs // groups
        config["depth_multiplier"] = multiplier
        kernel = kernel.reshape(*size, n_inputs, multiplier)
    else:
        kind = f"Conv{rank}D"
        config |= {"filters": n_outputs, "groups": groups}
    weights = [kernel, *([] if bias is None else [bias])]
    return network.map_after(value, kind, config, places, channels=group_of(n_outputs), weights=weights)


@translates("linear")
def linear(network: TranslatedNetwork, input: Value, weight: Array, bias: Array | None = None) -> Value:
    """Translate a dense layer; after a flattened feature map, reorder the kernel: Keras flattens in another order."""
    last = input.view[-1]
    kernel = weight.T
    if is_open(network, input):
        return close(network, input, kernel, bias)
    value = network.with_last(input, last)
    kernel = arranged(kernel, (*last, *(made := group_of(weight.shape[0]))), (*value.stored[-1], *made))
    config = {"units": weight.shape[0], "use_bias": bias is not None}
    weights = [kernel.reshape(size_of(last), -1), *([] if bias is None else [bias])]
    stored = (*value.stored[:-1], made)
    found = network.after(value, "Dense", config, weights, stored)
    return Value(found.source, stored, (*value.view[:-1], made))


def each(value: Any, rank: int) -> list[int]:
    """Return a setting of PyTorch (a number, or a sequence of 1 or `rank` numbers) as a list of `rank` numbers."""
    values = list(value) if isinstance(value, Sequence) else [value]
    return values * rank if len(values) == 1 else values


def pad_places(network: TranslatedNetwork, value: Value, pads: Sequence[tuple[int, int]]) -> Value:
    """Pad a feature map, stored with the channels last, with zeros at both ends of each spatial axis."""
    if not any(map(any, pads)):
        return value
    rank = len(pads)
    padding: Any = [list(pad) for pad in pads] if rank > 1 else list(pads[0])
    places = [n + sum(pad) for n, pad in zip(sizes_of(value.stored), pads, strict=False)]
    return network.map_after(value, f"ZeroPadding{rank}D", {"padding": padding}, places)
