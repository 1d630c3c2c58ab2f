"""Architecture families: each function returns the layers of a network, as plain data.

A layer is an entry of the competition's `config.json`: `{"layer_name": CLASS, SETTING: VALUE, ...}`. In a network with
skip connections, a layer also has `"inputs"`: positions in the list, -1 for the network's input. Other networks are
chains. All networks end in logits. Dropout layers serve training, and are never saved.
"""

from collections.abc import Callable, Sequence
from typing import Annotated, Any, Literal

from pydantic import Field

Layer = dict[str, Any]

#: Types of settings, which recipes are checked against: a number from 0, a number from 1, a width.
Count = Annotated[int, Field(ge=0, le=1000)]
Some = Annotated[int, Field(ge=1, le=1000)]
Positive = Annotated[int, Field(ge=1, le=10**9)]

_RELU: Layer = {"layer_name": "Activation", "activation": "relu"}
_LAYER_NORM: Layer = {"layer_name": "LayerNormalization", "epsilon": 1e-6}

#: Convolutions per block of the networks of Simonyan and Zisserman (2015), which are named by their depth.
VGG_DEPTHS = {11: (1, 1, 2, 2, 2), 13: (2, 2, 2, 2, 2), 16: (2, 2, 3, 3, 3), 19: (2, 2, 4, 4, 4)}


def vgg(
    n_classes: int,
    *,
    n_blocks: Count = 3,
    depth: Literal[0, 11, 13, 16, 19] = 0,
    n_filters: Positive = 512,
    n_dense: Count = 1,
    dense_units: Positive = 128,
    batch_norm: bool = False,
    dropout: float = 0.0,
) -> list[Layer]:
    """VGG-like, as in tasks 1 and 8 of the competition (Jiang et al. 2020, section 1.3.1).

        input - [conv3x3 relu, conv3x3 relu, maxpool2x2] x n_blocks - flatten - [dense relu, dropout] x n_dense - logits

    The last block has `n_filters` filters, and each earlier block half as many as the next. Jiang et al. give only the
    width of the last block, so the halving is this project's choice. `depth` 11, 13, 16 or 19 selects the blocks of
    VGG-11, -13, -16 or -19: five blocks, the last two equally wide. `batch_norm` normalises before each relu.
    """
    per_block = VGG_DEPTHS[depth] if depth else (2,) * n_blocks
    halvings = (3, 2, 1, 0, 0) if depth else range(n_blocks - 1, -1, -1)
    layers: list[Layer] = []
    for number, halving in zip(per_block, halvings, strict=True):
        for _ in range(number):
            layers += _convolution(max(n_filters >> halving, 1), 3, batch_norm=batch_norm)
        layers.append({"layer_name": "MaxPooling2D", "pool_size": [2, 2], "strides": [2, 2]})
    return [*layers, {"layer_name": "Flatten"}, *_dense([dense_units] * n_dense, dropout), _logits(n_classes)]


def nin(
    n_classes: int,
    *,
    n_convolutions: Some = 9,
    n_filters: Positive = 256,
    dense: Annotated[str, Field(pattern=r"^([1-9][0-9]*(-[1-9][0-9]*)*)?$")] = "",
    batch_norm: bool = False,
    dropout: float = 0.0,
) -> list[Layer]:
    """Network in network, as in tasks 2, 6, 7 and 9 (Lin et al. 2014).

        input - [conv3x3 stride 2 relu, conv1x1 relu, conv1x1 relu, dropout] x n_convolutions/3
              - global average pooling - [dense relu] for each number but the first in `dense` - logits

    `n_convolutions` is 3, 6, 9, ... Only the first three blocks have stride 2, so that 32 pixels become 4. `dense`,
    such as "256-256", begins with the number of filters of the last 1x1 convolution. Further numbers are widths of
    dense layers on top of the pooling, as Jiang et al. 2020 explain for task 7.
    """
    if n_convolutions % 3:
        raise ValueError("n_convolutions: expected a multiple of 3")
    on_top = [int(units) for units in dense.split("-") if units]
    layers: list[Layer] = []
    n_blocks = n_convolutions // 3
    for block in range(n_blocks):
        last = on_top[0] if on_top and block == n_blocks - 1 else n_filters
        layers += _convolution(n_filters, 3, strides=2 if block < 3 else 1, batch_norm=batch_norm)
        layers += _convolution(n_filters, 1, batch_norm=batch_norm)
        layers += _convolution(last, 1, batch_norm=batch_norm)
        layers += _dropout(dropout)
    return [*layers, {"layer_name": "GlobalAveragePooling2D"}, *_dense(on_top[1:], 0.0), _logits(n_classes)]


def fully_convolutional(
    n_classes: int,
    *,
    depth: Some = 4,
    n_parameters: Positive = 1_000_000,
    reversed: bool = False,
    channels: Positive = 3,
    batch_norm: bool = True,
    dropout: float = 0.0,
) -> list[Layer]:
    """Fully convolutional without downsampling, as in tasks 4 and 5 of the competition.

        input - [conv3x3, batch norm, relu] x depth - dropout - global average pooling - logits

    Widths grow linearly from the first layer to the last, or from the last to the first if `reversed`. The layers are
    as wide as possible while convolutions and logits have at most `n_parameters` parameters together.
    """
    shares = list(range(1, depth + 1))
    if reversed:
        shares.reverse()
    width = 1
    while _parameters([share * (width + 1) for share in shares], channels, n_classes) <= n_parameters:
        width += 1
    layers = [layer for share in shares for layer in _convolution(share * width, 3, batch_norm=batch_norm)]
    return [*layers, *_dropout(dropout), {"layer_name": "GlobalAveragePooling2D"}, _logits(n_classes)]


def mlp(n_classes: int, *, depth: Count = 2, width: Positive = 128, dropout: float = 0.0) -> list[Layer]:
    """Multi-layer perceptron: input - flatten - [dense relu, dropout] x depth - logits."""
    return [{"layer_name": "Flatten"}, *_dense([width] * depth, dropout), _logits(n_classes)]


def resnet(
    n_classes: int, *, depth: Literal[18, 34, 50] = 18, n_filters: Positive = 64, dropout: float = 0.0
) -> list[Layer]:
    """Residual network (He et al. 2016) for small images: a 3x3 stem and no initial pooling.

        input - conv3x3 - 4 stages of residual blocks, each stage after the first halves the side and doubles the width
              - global average pooling - dropout - logits

    Depths 18 and 34 have blocks of two 3x3 convolutions, depth 50 has bottlenecks (1x1, 3x3, 1x1 with four times the
    width). Every convolution has batch norm. Where shapes change, the skip connection has a 1x1 convolution.
    """
    graph = _Graph()
    at = graph.convolution(-1, n_filters, 3)
    for stage, number in enumerate({18: (2, 2, 2, 2), 34: (3, 4, 6, 3), 50: (3, 4, 6, 3)}[depth]):
        for block in range(number):
            strides = 2 if stage and not block else 1
            at = graph.residual(at, n_filters << stage, strides, bottleneck=depth == 50, widens=not block)
    graph.chain(at, {"layer_name": "GlobalAveragePooling2D"}, *_dropout(dropout), _logits(n_classes))
    return graph.layers


def convnext(
    n_classes: int,
    *,
    n_blocks: Count = 4,
    n_filters: Positive = 32,
    kernel: Positive = 7,
    patch: Positive = 4,
    dropout: float = 0.0,
) -> list[Layer]:
    """Isotropic ConvNeXt (Liu et al. 2022, section 3.3): all blocks have the resolution of the patches.

        input - conv of `patch` x `patch` with stride `patch`, layer norm - block x n_blocks
              - global average pooling - layer norm - dropout - logits
        block: x + (depthwise conv of `kernel` x `kernel`, layer norm, dense of 4 n_filters, GELU, dense of n_filters)

    Layer scale and stochastic depth are left out: in Liu et al., they serve networks of many blocks.
    """
    graph = _Graph()
    stem = {"layer_name": "Conv2D", "filters": n_filters, "kernel_size": [patch, patch], "strides": [patch, patch]}
    at = graph.chain(-1, stem, _LAYER_NORM)
    for _ in range(n_blocks):
        inner = graph.chain(
            at,
            {"layer_name": "DepthwiseConv2D", "kernel_size": [kernel, kernel], "padding": "same"},
            _LAYER_NORM,
            {"layer_name": "Dense", "units": 4 * n_filters, "activation": "gelu"},
            {"layer_name": "Dense", "units": n_filters},
        )
        at = graph.add({"layer_name": "Add"}, at, inner)
    graph.chain(at, {"layer_name": "GlobalAveragePooling2D"}, _LAYER_NORM, *_dropout(dropout), _logits(n_classes))
    return graph.layers


class _Graph:
    """Builds a network with skip connections. Each method adds layers, and returns the position of the last."""

    def __init__(self) -> None:
        self.layers: list[Layer] = []

    def add(self, layer: Layer, *inputs: int) -> int:
        self.layers.append({**layer, "inputs": list(inputs)})
        return len(self.layers) - 1

    def chain(self, at: int, *layers: Layer) -> int:
        for layer in layers:
            at = self.add(layer, at)
        return at

    def convolution(self, at: int, filters: int, size: int, strides: int = 1, *, relu: bool = True) -> int:
        layers = _convolution(filters, size, strides=strides, batch_norm=True)
        return self.chain(at, *layers[: 3 if relu else 2])

    def residual(self, at: int, filters: int, strides: int, *, bottleneck: bool, widens: bool) -> int:
        out = 4 * filters if bottleneck else filters
        if bottleneck:
            inner = self.convolution(at, filters, 1)
            inner = self.convolution(inner, filters, 3, strides)
            inner = self.convolution(inner, out, 1, relu=False)
        else:
            inner = self.convolution(at, filters, 3, strides)
            inner = self.convolution(inner, out, 3, relu=False)
        changes = strides > 1 or (bottleneck and widens)
        skip = self.convolution(at, out, 1, strides, relu=False) if changes else at
        return self.chain(self.add({"layer_name": "Add"}, inner, skip), _RELU)


def _convolution(filters: int, size: int, *, strides: int = 1, batch_norm: bool = False) -> list[Layer]:
    convolution = {"layer_name": "Conv2D", "filters": filters, "kernel_size": [size, size], "padding": "same"}
    if strides > 1:
        convolution["strides"] = [strides, strides]
    if not batch_norm:
        return [{**convolution, "activation": "relu"}]
    bare = {**convolution, "use_bias": False}
    return [bare, {"layer_name": "BatchNormalization"}, _RELU]


def _dense(units: Sequence[int], dropout: float) -> list[Layer]:
    return [
        layer
        for number in units
        for layer in ({"layer_name": "Dense", "units": number, "activation": "relu"}, *_dropout(dropout))
    ]


def _dropout(rate: float) -> list[Layer]:
    return [{"layer_name": "Dropout", "rate": rate}] if rate else []


def _logits(n_classes: int) -> Layer:
    return {"layer_name": "Dense", "units": n_classes}


def _parameters(widths: Sequence[int], channels: int, n_classes: int) -> int:
    """Return the total number of parameters of 3x3 convolutions with these widths and of the layer of logits."""
    inputs = [channels, *widths[:-1]]
    return (
        sum(9 * before * after + after for before, after in zip(inputs, widths, strict=True))
        + (widths[-1] + 1) * n_classes
    )


#: Value of `family` in a recipe -> function that returns the layers.
FAMILIES: dict[str, Callable[..., list[Layer]]] = {
    family.__name__: family for family in (vgg, nin, fully_convolutional, resnet, convnext, mlp)
}
