"""Gradients with respect to the weights for each example, from a single backward pass.

In inference mode, examples do not affect each other. So the gradient of a sum over the batch with respect to a layer's
output contains the gradient of each example. Together with the layer's input, this gives each example's gradient with
respect to the kernel. "The weights" are all parameters of all nodes, in the order of `Network.trained_nodes`.
"""

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from baselines.core.lazy import tf
from baselines.core.needs import MeasureUnavailable
from baselines.network.losses import relative_slopes
from baselines.network.network import Network
from baselines.network.nodes import INPUT, Node
from baselines.network.scale_gradients import scale_gradients

#: Largest size of a kernel, and of all windows of an example together, for which the gradients of a convolution are
#: computed for the whole window at once. This takes fewer operations, but more memory.
STACKED = 2**17

#: Memory for the gradients of single examples, as a multiple of a forward pass's memory.
PASSES = 4

#: Function of logits (n, classes) that returns the gradients (n, classes) of a function of the logits.
Slopes = Callable[[Any], Any]


def per_example(network: Network, inputs: Any, labels: Any) -> tuple[Any, Any, Any, Any]:
    """Return |g_i|^2 (n,), <w, g_i> (n,), sum_i g_i (weights,) and a scalar s.

    e^s g_i is the gradient of the cross-entropy of example i, and w are the weights. Gradients that are not divided by
    e^s could underflow. Raises `MeasureUnavailable` if gradients of a layer cannot be separated by example.
    """
    passed = _passed(network, inputs)
    slopes, unit = relative_slopes(passed.logits, labels)
    layers = _layers(network, passed, slopes)
    found = [(part.squares(), part.total()) for layer in layers for part in _parts(layer)]
    products = [product for layer in layers for product in _products(layer)]
    total = _joined([total for _, total in found])
    return tf.add_n([squares for squares, _ in found]), tf.add_n(products), total, unit


def loss_moments(network: Network, inputs: Any, labels: Any) -> tuple[Any, Any, Any]:
    """Return sum_i g_i and sum_i g_i^2, both (weights,), and the scalar s; g_i and s are as in `per_example`."""
    passed = _passed(network, inputs)
    slopes, unit = relative_slopes(passed.logits, labels)
    return *_moments(_layers(network, passed, slopes)), unit


def weight_moments(network: Network, inputs: Any, slopes: Slopes) -> tuple[Any, Any]:
    """Return sum_i g_i and sum_i g_i^2, both (weights,), g_i the gradient of a function of example i's logits.

    `slopes` computes the function's gradients in the logits. The order of weights differs from that of
    `Network.variables`.
    """
    passed = _passed(network, inputs)
    return _moments(_layers(network, passed, slopes(passed.logits)))


def gradient_products(network: Network, inputs: Any, slopes: Slopes) -> Any:
    """Return the inner products (n, n) of the gradients g_i of `weight_moments`; raises the errors of `per_example`.

    For each layer, the gradients of all examples are in memory at once, so n should be small.
    """
    passed = _passed(network, inputs)
    layers = _layers(network, passed, slopes(passed.logits))
    return tf.add_n([part.products() for layer in layers for part in _parts(layer)])


class _Pass(NamedTuple):
    entering: list[Any]
    leaving: list[Any]
    logits: Any
    tape: Any


class _Layer(NamedTuple):
    node: Node
    weights: Any
    entering: Any
    leaving: Any
    slope: Any


class Part(NamedTuple):
    """Gradients of each example with respect to some weights of a layer, computed on demand, since they are large."""

    squares: Callable[[], Any]  #: squared norms (n,)
    total: Callable[[], Any]  #: sum over examples, in the weights' shape or transposed
    power: Callable[[], Any]  #: sum of squares over examples, in the shape of `total`
    products: Callable[[], Any]  #: inner products (n, n)


def _passed(network: Network, inputs: Any) -> _Pass:
    places = network.trained_nodes
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        sources = [network.nodes[place].sources[0] for place in places]
        *found, logits = network.run({INPUT: inputs}, [*sources, *places, network.output], tape)
    return _Pass(found[: len(places)], found[len(places) :], logits, tape)


def _layers(network: Network, passed: _Pass, slopes: Any) -> list[_Layer]:
    gradients = passed.tape.gradient(passed.logits, passed.leaving, output_gradients=slopes)
    places = network.trained_nodes
    described = [
        (network.nodes[place], list(map(tf.convert_to_tensor, network.layer(place).weights))) for place in places
    ]
    through = zip(passed.entering, passed.leaving, gradients, strict=True)
    return [_Layer(*layer, *arrays) for layer, arrays in zip(described, through, strict=True)]


def _moments(layers: list[_Layer]) -> tuple[Any, Any]:
    found = [(part.total(), part.power()) for layer in layers for part in _parts(layer)]
    return _joined([total for total, _ in found]), _joined([power for _, power in found])


def _products(layer: _Layer) -> Iterator[Any]:
    """Yield terms (n,) of the inner product of a layer's weights with their gradients.

    The output z of a weight layer is linear in its kernel W and bias b, so for a loss L, W dL/dW + b dL/db = z dL/dz.
    The output of a separable layer is linear in each of its two kernels.
    """
    node, weights, entering, leaving, slope = layer
    if node.scales:
        found = scale_gradients(node, weights, entering, slope)
        yield from (_sum(one * weight) for one, weight in zip(found, weights, strict=False))
        return
    yield _sum(slope * leaving)
    if node.kind == "SeparableConv2D":
        yield _sum(slope * (leaving - weights[2] if node.config["use_bias"] else leaving))


def _joined(tensors: list[Any]) -> Any:
    return tf.concat([tf.reshape(tensor, [-1]) for tensor in tensors], axis=0)


def _parts(layer: _Layer) -> Iterator[Part]:
    node, weights, entering, _, slope = layer
    if node.scales:
        yield from map(_part, scale_gradients(node, weights, entering, slope))
        return
    if node.config["use_bias"]:
        yield _part(tf.reduce_sum(_flat(slope), axis=1))
    if node.kind == "Dense":
        yield _outer(entering, slope)
    elif node.kind in ("Conv1D", "Conv2D", "Conv3D"):
        groups = node.config["groups"]
        for taken, own in zip(tf.split(entering, groups, -1), tf.split(slope, groups, -1), strict=True):
            windows = _windows(node, taken, own)
            if is_stacked(weights[0].shape, own.shape[1:]):
                windows = [tf.concat(windows, axis=-1)]
            yield from (_outer(window, own) for window in windows)
    elif node.kind == "DepthwiseConv2D":
        yield from _depthwise(node, entering, slope)
    elif node.kind == "SeparableConv2D":
        depthwise, pointwise = weights[:2]
        (height, width), rates = node.config["strides"], node.config["dilation_rate"]
        padding = node.config["padding"].upper()
        middle = tf.nn.depthwise_conv2d(entering, depthwise, (1, height, width, 1), padding, dilations=rates)
        yield from _depthwise(node, entering, tf.tensordot(slope, pointwise[0, 0], axes=([3], [1])))
        yield _outer(middle, slope)
    else:
        raise MeasureUnavailable(
            f"needs gradients of single examples, which layer {node.name} ({node.kind}) does not give"
        )


def is_stacked(kernel: Sequence[int], output: Sequence[int]) -> bool:
    """Whether the gradients of a convolution's group are computed for the whole window at once (see `STACKED`)."""
    return math.prod(kernel[:-1]) * max(math.prod(output[:-1]), output[-1]) <= STACKED


def _part(gradients: Any) -> Part:
    return Part(
        lambda: _sum(tf.square(gradients)),
        lambda: tf.reduce_sum(gradients, axis=0),
        lambda: tf.reduce_sum(tf.square(gradients), axis=0),
        lambda: _among(tf.reshape(gradients, (-1, math.prod(gradients.shape[1:])))),
    )


def _among(rows: Any) -> Any:
    return tf.matmul(rows, rows, transpose_b=True)


def _sum(values: Any) -> Any:
    return tf.reduce_sum(values, axis=list(range(1, len(values.shape))))


def _flat(values: Any) -> Any:
    return tf.reshape(values, (-1, math.prod(values.shape[1:-1]), values.shape[-1]))


def _outer(entering: Any, slope: Any) -> Part:
    """Return the `Part` with the gradients sum_p slope_p entering_p' over positions p, computed in the cheapest way."""
    entering, slope = _flat(entering), _flat(slope)
    positions, inputs, outputs = entering.shape[1], entering.shape[2], slope.shape[2]
    if positions * (inputs + outputs) >= inputs * outputs:
        return _part(tf.matmul(slope, entering, transpose_a=True))
    rows, columns = tf.reshape(slope, (-1, outputs)), tf.reshape(entering, (-1, inputs))

    def power() -> Any:
        if positions == 1:
            return tf.matmul(tf.square(rows), tf.square(columns), transpose_a=True)
        return tf.reduce_sum(tf.square(tf.matmul(slope, entering, transpose_a=True)), axis=0)

    def squares() -> Any:
        return _sum(tf.matmul(entering, entering, transpose_b=True) * tf.matmul(slope, slope, transpose_b=True))

    def products() -> Any:
        if positions == 1:
            return _among(rows) * _among(columns)
        gradients = tf.matmul(slope, entering, transpose_a=True)
        return _among(tf.reshape(gradients, (-1, inputs * outputs)))

    return Part(squares, lambda: tf.matmul(rows, columns, transpose_a=True), power, products)


def _depthwise(node: Node, entering: Any, slope: Any) -> Iterator[Part]:
    channels = entering.shape[-1]
    slopes = tf.reshape(slope, (-1, math.prod(slope.shape[1:-1]), channels, slope.shape[-1] // channels))
    for window in _windows(node, entering, slope):
        yield _part(tf.einsum("npc,npcm->ncm", _flat(window), slopes))


def _windows(node: Node, entering: Any, slope: Any) -> list[Any]:
    """Return slices (n, ..., channels) of the padded input, a slice for each entry of the kernel's window."""
    sizes, strides, rates = (node.config[name] for name in ("kernel_size", "strides", "dilation_rate"))
    axes = list(zip(entering.shape[1:-1], slope.shape[1:-1], sizes, strides, rates, strict=True))
    padding = [(0, 0), *(_padding(node.config["padding"], *axis) for axis in axes), (0, 0)]
    padded, whole = tf.pad(entering, padding), 1 | 1 << len(axes) + 1  # axes taken whole: examples, channels
    windows = []
    for offsets in itertools.product(*map(range, sizes)):
        starts = [offset * axis[4] for offset, axis in zip(offsets, axes, strict=True)]
        ends = [start + (axis[1] - 1) * axis[3] + 1 for start, axis in zip(starts, axes, strict=True)]
        windows.append(tf.strided_slice(padded, [0, *starts, 0], [0, *ends, 0], [1, *strides, 1], whole, whole))
    return windows


def _padding(kind: str, before: int, after: int, size: int, stride: int, rate: int) -> tuple[int, int]:
    """Return how many zeros pad the beginning and the end of an axis of `before` inputs and `after` outputs."""
    lacking = max((after - 1) * stride + (size - 1) * rate + 1 - before, 0)
    first = lacking if kind == "causal" else lacking // 2
    return first, lacking - first
