"""Determines, without Keras, the kind of a network's outputs, such as logits, and the shape of each layer's output."""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from functools import reduce
from typing import Any

import numpy as np

from harness.format.layer_settings import TRAINING_ONLY
from harness.format.writer import HARD_SIGMOID_OF_KERAS_2

#: Layers whose output consists of the numbers of their input, perhaps in another order.
_PASSING = TRAINING_ONLY.keys() | {"Flatten", "Identity", "Permute", "Reshape"}

#: Layers with weights. If their inputs are probabilities, their outputs are not probabilities.
_WEIGHTY = {"Dense", "EinsumDense", "Embedding", "MultiHeadAttention"}
_WEIGHTY_BEGINNINGS = ("Conv", "DepthwiseConv", "SeparableConv")

#: Activations whose outputs are probabilities or their logarithms.
_PROBABILITIES = {
    "hard_sigmoid", HARD_SIGMOID_OF_KERAS_2, "log_sigmoid", "log_softmax", "sigmoid", "softmax", "sparse_sigmoid",
    "sparsemax",
}  # fmt: skip

#: The layers of a canonical form (`harness.format.architecture`).
Layers = Sequence[Mapping[str, Any]]

#: The shape of an output without the batch axis.
Shape = tuple[int, ...]

Settings = Mapping[str, Any]

_MERGING = {"Add", "Average", "Maximum", "Minimum", "Multiply", "Subtract"}
_SPATIAL = re.compile(r"([A-Za-z]+)([123])D(Transpose)?")


class Output(StrEnum):
    """A kind of a network's outputs, as text for users."""

    LOGITS = "logits"
    PROBABILITIES = "probabilities"  #: of a softmax over all classes
    LOG_PROBABILITIES = "log-probabilities"  #: of a log-softmax
    NO_LOGITS = (
        "probabilities without logits"  #: of sigmoids, or of a softmax before the last layer or over some classes only
    )


def final_softmax(layers: Layers, input_shape: Sequence[int]) -> dict[str, int]:
    """Return {"softmax": position of the layer with the final softmax}; empty if there is no final softmax.

    The softmax must be over all outputs. A log-softmax, or the sigmoid of a single output, is treated as a softmax. The
    result is also empty if the layer is called twice.
    """
    position = len(layers) - 1
    while position >= 0 and _is_passing(layers, position):
        position = _inputs(layers, position)[0]
    is_shared = any("layer" in entry and position in (i, entry["layer"]) for i, entry in enumerate(layers))
    return {"softmax": position} if not is_shared and _is_of_all(layers, input_shape, position) else {}


def output_of(architecture: Mapping[str, Any]) -> Output:
    """Return the kind of the outputs of a model in canonical form."""
    layers = architecture["layers"]
    if (end := architecture.get("softmax")) is not None:
        return Output.LOG_PROBABILITIES if _activation(layers, end) == "log_softmax" else Output.PROBABILITIES
    return Output.NO_LOGITS if _are_probabilities(layers) else Output.LOGITS


def _are_probabilities(layers: Layers) -> bool:
    """Whether the outputs are probabilities, or are computed from probabilities by layers without weights."""
    found: dict[int, bool] = {-1: False}
    for position in range(len(layers)):
        parts, name = [found[source] for source in _inputs(layers, position)], _class_name(layers, position)
        together = any if name == "Concatenate" else all
        is_weighty = name in _WEIGHTY or name.startswith(_WEIGHTY_BEGINNINGS)
        found[position] = _activation(layers, position) in _PROBABILITIES or (not is_weighty and together(parts))
    return found[len(layers) - 1]


def _is_of_all(layers: Layers, input_shape: Sequence[int], position: int) -> bool:
    """Whether a layer ends with a softmax or log-softmax over all outputs, or with the sigmoid of a single output."""
    name = _activation(layers, position)
    if name not in ("softmax", "log_softmax", "sigmoid"):
        return False
    shape = shapes_of(layers, input_shape)[position]
    if shape is None:
        return False
    axes = [] if name == "sigmoid" else _definition(layers, position)["config"].get("axis", -1)
    lengths: list[int] = [
        shape[axis if axis < 0 else axis - 1] for axis in (axes if isinstance(axes, list) else [axes])
    ]
    return math.prod(lengths) == math.prod(shape)


def _inputs(layers: Layers, position: int) -> list[int]:
    found: list[int] = layers[position].get("inputs", [position - 1])
    return found


def _is_passing(layers: Layers, position: int) -> bool:
    is_linear = _class_name(layers, position) == "Activation" and _activation(layers, position) == "linear"
    return is_linear or _class_name(layers, position) in _PASSING


def _activation(layers: Layers, position: int) -> str | None:
    """Return the activation at the end of a layer; None if it has no activation, and for the model's input."""
    if position < 0:
        return None
    definition = _definition(layers, position)
    return "softmax" if definition["class_name"] == "Softmax" else definition["config"].get("activation")


def _class_name(layers: Layers, position: int) -> str:
    return str(_definition(layers, position)["class_name"])


def _definition(layers: Layers, position: int) -> Mapping[str, Any]:
    return layers[layers[position].get("layer", position)]


def shapes_of(layers: Sequence[Mapping[str, Any]], input_shape: Sequence[int]) -> list[Shape | None]:
    """Return the shape of each layer's output; None where Keras would refuse the layer or its input."""
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
    """Return the output shape of EinsumDense. None in its setting `output_shape` means the size of the input's axis."""
    given = _list(config["output_shape"])
    inputs = config["equation"].split(",")[0]
    front = shape[: len(shape) - len(inputs.replace("...", ""))] if inputs.startswith("...") else ()
    own = shape[len(front) :]
    return (*front, *(own[place] if size is None else size for place, size in enumerate(given)))


#: Layer that changes the shape of its input, except spatial layers -> output shape from settings and input shape.
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
    """Return the output shape of a spatial layer; `match` splits its class name into parts such as Conv and 2."""
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
    """Return the output size along each spatial axis of a convolution (not transposed) or pooling."""
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
    return _list(value) * len(places) if len(_list(value)) == 1 else [*value]


def _sides(value: Any, places: Shape) -> list[int]:
    """Return the sum of the padding, or cropping, on both sides of each spatial axis."""
    each = [value] if len(places) == 1 else _each(value, places)
    return [sum(_list(one)) if len(_list(one)) == 2 else 2 * _list(one)[0] for one in each]
