"""The shapes of what the layers of a canonical form put out, computed without Keras."""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Any

import numpy as np

#: Without the batch axis.
Shape = tuple[int, ...]

Settings = Mapping[str, Any]

_MERGING = {"Add", "Average", "Maximum", "Minimum", "Multiply", "Subtract"}
_SPATIAL = re.compile(r"([A-Za-z]+)([123])D(Transpose)?")


def shapes_of(layers: Sequence[Mapping[str, Any]], input_shape: Sequence[int]) -> list[Shape | None]:
    """Return the shape of each layer's output; None for a layer that Keras would refuse, and for those behind it."""
    shapes: dict[int, Shape | None] = {-1: tuple(input_shape)}
    for position, entry in enumerate(layers):
        definition = layers[entry.get("layer", position)]
        sources = [shapes[source] for source in entry.get("inputs", [position - 1])]
        try:
            known = [tuple(shape) for shape in sources]  # type: ignore[arg-type]
            shapes[position] = _shape(definition["class_name"], definition["config"], known)
        except (ArithmeticError, LookupError, TypeError, ValueError):
            shapes[position] = None
    return [shapes[position] for position in range(len(layers))]


def _shape(name: str, config: Settings, sources: Sequence[Shape]) -> Shape:
    if name in _MERGING:
        return reduce(lambda one, other: tuple(np.broadcast_shapes(one, other)), sources)
    if name == "Concatenate":
        return _concatenated(config.get("axis", -1), sources)
    if name in _CHANGING:
        return _CHANGING[name](config, sources[0])
    match = _SPATIAL.fullmatch(name)
    return sources[0] if match is None else _spatial(match, config, sources[0])


def _concatenated(axis: int, sources: Sequence[Shape]) -> Shape:
    place = axis if axis < 0 else axis - 1
    shape = list(sources[0])
    shape[place] = sum(source[place] for source in sources)
    return tuple(shape)


def _reshaped(config: Settings, shape: Shape) -> Shape:
    target = config["target_shape"]
    rest = math.prod(shape) // math.prod(size for size in target if size != -1)
    return tuple(rest if size == -1 else size for size in target)


def _contracted(config: Settings, shape: Shape) -> Shape:
    """Of EinsumDense: dots stand for axes in front, None for an axis of the input."""
    given = _list(config["output_shape"])
    inputs = config["equation"].split(",")[0]
    front = shape[: len(shape) - len(inputs.replace("...", ""))] if inputs.startswith("...") else ()
    own = shape[len(front) :]
    return (*front, *(own[place] if size is None else size for place, size in enumerate(given)))


#: Layers that change the shape of their first input, except the spatial ones.
_CHANGING: dict[str, Callable[[Settings, Shape], Shape]] = {
    "Dense": lambda config, shape: (*shape[:-1], config["units"]),
    "EinsumDense": _contracted,
    "Embedding": lambda config, shape: (*shape, config["output_dim"]),
    "Flatten": lambda _, shape: (math.prod(shape),),
    "MultiHeadAttention": lambda config, shape: (*shape[:-1], *_list(config.get("output_shape", shape[-1]))),
    "Permute": lambda config, shape: tuple(shape[axis - 1] for axis in config["dims"]),
    "RepeatVector": lambda config, shape: (config["n"], *shape),
    "Reshape": _reshaped,
}


def _spatial(match: re.Match[str], config: Settings, shape: Shape) -> Shape:
    """Of a layer in whose name the number of places' axes stands, the channels being last."""
    kind, places, channels = match[1], shape[:-1], shape[-1]
    if kind.startswith("Global"):
        return (*(1 for _ in places), channels) if config.get("keepdims") else (channels,)
    if kind == "UpSampling":
        return (*(n * by for n, by in zip(places, _each(config.get("size", 2), places), strict=True)), channels)
    if kind in ("ZeroPadding", "Cropping"):
        more = config["padding"] if kind == "ZeroPadding" else config["cropping"]
        sign = 1 if kind == "ZeroPadding" else -1
        return (*(n + sign * sides for n, sides in zip(places, _sides(more, places), strict=True)), channels)
    if kind == "DepthwiseConv":
        channels *= config.get("depth_multiplier", 1)
    elif kind.endswith("Conv"):
        channels = config["filters"]
    return (*(_transposed if match[3] else _windows)(config, places), channels)


def _windows(config: Settings, places: Shape) -> list[int]:
    """Numbers of the places of a kernel, or of a pool."""
    size = config["kernel_size"] if "kernel_size" in config else config.get("pool_size", 2)
    strides = config.get("strides", size if "kernel_size" not in config else 1)
    each = [_each(value, places) for value in (size, strides, config.get("dilation_rate", 1))]
    is_padded = config.get("padding", "valid") != "valid"
    return [
        (n - 1) // stride + 1 if is_padded else (n - dilation * (width - 1) - 1) // stride + 1
        for n, width, stride, dilation in zip(places, *each, strict=True)
    ]


def _transposed(config: Settings, places: Shape) -> list[int]:
    names = {"kernel_size": 1, "strides": 1, "dilation_rate": 1}
    each = [_each(config.get(name, usual), places) for name, usual in names.items()]
    is_padded, more = config.get("padding", "valid") != "valid", config.get("output_padding")
    found = []
    for place, (n, size, stride, dilation) in enumerate(zip(places, *each, strict=True)):
        width = dilation * (size - 1) + 1
        if more is None:
            found.append(n * stride + (0 if is_padded else max(width - stride, 0)))
        else:
            found.append((n - 1) * stride + width - (2 * (width // 2) if is_padded else 0) + _each(more, places)[place])
    return found


def _list(value: Any) -> list[Any]:
    return [*value] if isinstance(value, list | tuple) else [value]


def _each(value: Any, places: Shape) -> list[int]:
    """A setting for each axis of places."""
    return _list(value) * len(places) if len(_list(value)) == 1 else [*value]


def _sides(value: Any, places: Shape) -> list[int]:
    """The sum of both sides' numbers, for each axis of places."""
    each = [value] if len(places) == 1 else _each(value, places)
    return [sum(_list(one)) if len(_list(one)) == 2 else 2 * _list(one)[0] for one in each]
