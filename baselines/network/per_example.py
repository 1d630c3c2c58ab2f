"""Gradients of the loss with respect to the weights, example by example, from one backward pass.

In inference mode examples do not see each other. So the gradient of a batch's summed loss with respect to a weight
layer's output holds, example by example, what the chain rule needs; with the layer's input it gives each example's
gradient with respect to the kernel.
"""

import itertools
import math
from typing import Any

from baselines.lazy import tf
from baselines.network.network import Network
from baselines.network.nodes import INPUT, Node
from baselines.unavailable import MeasureUnavailable


def cross_entropies(logits: Any, labels: Any) -> Any:
    """Cross-entropy in nats of logits (n, classes); returns (n,), with gradients that are exact where it is tiny.

    A softmax computes a probability near 1 to seven digits only, so that a gradient of its logit is rounded to 0.
    """
    is_true = tf.one_hot(labels, logits.shape[-1], True, False, dtype=tf.bool)
    true = tf.reduce_sum(tf.where(is_true, logits, 0.0), axis=1)
    return tf.nn.softplus(tf.reduce_logsumexp(tf.where(is_true, logits.dtype.min, logits), axis=1) - true)


def per_example(network: Network, inputs: Any, labels: Any) -> tuple[Any, Any, list[Any]]:
    """Return, of the cross-entropy, |g_i|^2 (n,), <w, g_i> (n,) and the sum over examples of g_i, array by array.

    Weights w are the kernels and biases of all weight layers; use it inside `Network.compiled`.

    Raises:
        MeasureUnavailable: a layer is of a kind whose gradients it cannot take apart.
    """
    places = network.weight_nodes
    variables = network.variables
    with tf.GradientTape() as tape:
        tape.watch([inputs, *variables])
        sources = [network.nodes[place].sources[0] for place in places]
        *found, logits = network.run({INPUT: inputs}, [*sources, *places, network.output])
        loss = tf.reduce_sum(cross_entropies(logits, labels))
    taken, outputs = found[: len(places)], found[len(places) :]
    slopes, total = tape.gradient(loss, (outputs, variables))
    squares, products = [], []
    for place, entering, leaving, slope in zip(places, taken, outputs, slopes, strict=True):
        node, weights = network.nodes[place], network.layer(place).weights
        of_kernels = _of_kernels(node, weights, entering, slope)
        # A layer is linear in its weights, W dL/dW + b dL/db = z dL/dz; and in each of several kernels.
        products.append(_sum(slope * leaving))
        if len(of_kernels) > 1:
            products.append((len(of_kernels) - 1) * _sum(slope * (leaving - _bias(node, weights))))
        squares += of_kernels
        if node.config["use_bias"]:
            squares.append(_sum(tf.square(tf.reduce_sum(_flat(slope), axis=1))))
    return tf.add_n(squares), tf.add_n(products), total


def _bias(node: Node, weights: Any) -> Any:
    return weights[-1] if node.config["use_bias"] else 0.0


def _sum(values: Any) -> Any:
    """Sum over all axes but the first."""
    return tf.reduce_sum(tf.reshape(values, (tf.shape(values)[0], -1)), axis=1)


def _of_kernels(node: Node, weights: Any, entering: Any, slope: Any) -> list[Any]:
    """Squared norms of each example's gradient with respect to a layer's kernels, each (n,)."""
    if node.kind == "DepthwiseConv2D":
        return [_depthwise(node, entering, slope)]
    if node.kind == "SeparableConv2D":
        depthwise, pointwise = (tf.convert_to_tensor(array) for array in weights[:2])
        (height, width), rates = node.config["strides"], node.config["dilation_rate"]
        padding = node.config["padding"].upper()
        middle = tf.nn.depthwise_conv2d(entering, depthwise, (1, height, width, 1), padding, dilations=rates)
        back = tf.tensordot(slope, pointwise[0, 0], axes=([3], [1]))
        return [_depthwise(node, entering, back), _dense(_flat(middle), _flat(slope))]
    if node.kind == "Dense":
        return [_dense(_flat(entering), _flat(slope))]
    if node.kind not in ("Conv1D", "Conv2D", "Conv3D"):
        raise _unknown(node, node.kind)
    if node.config["groups"] != 1:
        raise _unknown(node, f"{node.config['groups']} groups")
    return [_dense(_flat(tf.concat(_windows(node, entering, slope), axis=-1)), _flat(slope))]


def _unknown(node: Node, what: str) -> MeasureUnavailable:
    return MeasureUnavailable(
        f"needs gradients of single examples, which are not known for {what} of layer {node.name}"
    )


def _flat(values: Any) -> Any:
    """(n, ..., channels) -> (n, positions, channels)."""
    return tf.reshape(values, (-1, math.prod(values.shape[1:-1]), values.shape[-1]))


def _dense(entering: Any, slopes: Any) -> Any:
    """Squared norm of sum_p entering_p slopes_p' for each example (n,), by whichever way needs fewer products."""
    positions, size, outputs = entering.shape[1], entering.shape[2], slopes.shape[2]
    if positions * (size + outputs) < size * outputs:
        return _sum(tf.matmul(entering, entering, transpose_b=True) * tf.matmul(slopes, slopes, transpose_b=True))
    return _sum(tf.square(tf.matmul(slopes, entering, transpose_a=True)))


def _depthwise(node: Node, entering: Any, slope: Any) -> Any:
    slopes = tf.reshape(
        _flat(slope), (-1, math.prod(slope.shape[1:-1]), entering.shape[-1], slope.shape[-1] // entering.shape[-1])
    )
    windows = tf.stack([_flat(window) for window in _windows(node, entering, slope)], axis=2)
    return _sum(tf.square(tf.einsum("npkc,npcm->nkcm", windows, slopes)))


def _windows(node: Node, entering: Any, slope: Any) -> list[Any]:
    """What each entry of the kernel's window is multiplied with at each position, (n, ..., channels) each.

    Slices of the padded input: `tf.image.extract_patches` is several times slower.
    """
    sizes, strides, rates = (node.config[name] for name in ("kernel_size", "strides", "dilation_rate"))
    axes = list(zip(entering.shape[1:-1], slope.shape[1:-1], sizes, strides, rates, strict=True))
    padding = [(0, 0), *(_padding(node.config["padding"], *axis) for axis in axes), (0, 0)]
    padded = tf.pad(entering, padding)
    windows = []
    for offsets in itertools.product(*map(range, sizes)):
        starts = [offset * axis[4] for offset, axis in zip(offsets, axes, strict=True)]
        slices = [
            slice(start, start + (length - 1) * stride + 1, stride)
            for start, (_, length, _, stride, _) in zip(starts, axes, strict=True)
        ]
        windows.append(padded[(slice(None), *slices)])
    return windows


def _padding(kind: str, before: int, after: int, size: int, stride: int, rate: int) -> tuple[int, int]:
    """Zeros on both sides of an axis that is `before` long and becomes `after`."""
    lacking = max((after - 1) * stride + (size - 1) * rate + 1 - before, 0)
    first = lacking if kind == "causal" else lacking // 2
    return first, lacking - first
