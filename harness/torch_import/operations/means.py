"""Translates means and sums over axes, adaptive pooling, and upsampling."""

import math
from typing import Any

from harness.torch_import.network import TranslatedNetwork
from harness.torch_import.operations.convolutions import each
from harness.torch_import.registry import UntranslatableError, translates
from harness.torch_import.values import Value, flat, sizes_of


@translates("mean")
def _mean(network: TranslatedNetwork, x: Value, dim: Any = None, keepdim: bool = False, **_: Any) -> Value:
    dims = [axis % len(x.view) for axis in (range(len(x.view)) if dim is None else dim)]
    axes = flat(tuple(x.view[axis] for axis in dims))
    value = network.settled(x)
    rest = tuple(axis for axis in flat(value.stored) if axis not in axes)
    if any(axis.is_batch for axis in axes) or not rest:
        raise UntranslatableError("is a mean over the batch, or over all numbers of an example")
    is_map = len(value.stored) == 3 and value.stored[2] == rest
    if not is_map:
        inner = tuple(axis for axis in flat(value.stored) if axis in axes)
        value = network.stored_as(value, (inner, rest))
    kind = f"GlobalAveragePooling{len(value.stored) - 1}D"
    stored = (*[()] * (len(value.stored) - 1) * keepdim, rest)
    found = network.after(value, kind, {"keepdims": True} if keepdim else {}, stored=stored)
    view = [() if axis in dims else group for axis, group in enumerate(x.view) if keepdim or axis not in dims]
    return Value(found.source, stored, tuple(view))


@translates("sum")
def _total(network: TranslatedNetwork, x: Value, dim: Any = None, keepdim: bool = False, **_: Any) -> Value:
    count = math.prod(x.shape[axis] for axis in dim or ())
    return network.scaled(_mean(network, x, dim, keepdim), count)


@translates("adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d")
def _adaptive_avg_pool(network: TranslatedNetwork, x: Value, output_size: Any) -> Value:
    """Translate pooling to the spatial size `output_size` in equal windows. If the input is smaller, upsample it."""
    value = network.channels_last(x)
    rank = len(value.stored) - 1
    have = sizes_of(value.stored)[:-1]
    wanted = tuple(n if size is None else size for n, size in zip(have, each(output_size, rank), strict=True))
    if set(wanted) == {1}:
        return _mean(network, x, list(range(2, len(x.view))), keepdim=True)
    if wanted == have:
        return x
    if all(n % size == 0 for n, size in zip(have, wanted, strict=True)):
        pool = [n // size for n, size in zip(have, wanted, strict=True)]
        config: dict[str, Any] = {"pool_size": pool, "strides": pool, "padding": "valid"}
        return network.map_after(value, f"AveragePooling{rank}D", config, wanted)
    return _upsample(network, x, wanted)  # larger than the input


@translates("upsample_nearest1d", "upsample_nearest2d", "upsample_nearest3d", "upsample_bilinear2d")
def _upsample(
    network: TranslatedNetwork,
    x: Value,
    output_size: Any = None,
    align_corners: bool | None = None,
    scale_factors: Any = None,
) -> Value:
    """Translate upsampling by whole factors: bilinear if `align_corners` is False, repeating pixels if it is None."""
    value = network.channels_last(x)
    have = sizes_of(value.stored)[:-1]
    if any(factor != int(factor) for factor in scale_factors or ()):  # PyTorch places pixels by the factor itself
        raise UntranslatableError(f"upsamples by {scale_factors}, which are no whole factors")
    wanted = [int(n * factor) for n, factor in zip(have, scale_factors, strict=True)] if scale_factors else output_size
    if align_corners or any(size % n for n, size in zip(have, wanted, strict=True)):
        raise UntranslatableError(f"upsamples {have} places to {tuple(wanted)}, which is no whole factor")
    times: Any = [size // n for n, size in zip(have, wanted, strict=True)]
    config = {"size": times if len(times) > 1 else times[0]}
    config |= {} if align_corners is None else {"interpolation": "bilinear"}
    return network.map_after(value, f"UpSampling{len(have)}D", config, wanted)
