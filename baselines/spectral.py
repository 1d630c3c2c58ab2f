"""Singular values of layers: of the kernel as a matrix, and of the convolution as an operator, in two ways."""

from collections.abc import Callable
from typing import Any

import numpy as np

from baselines.lazy import tf
from baselines.network import Kernel, Network
from baselines.sample import Array
from baselines.subject import Subject, shared
from baselines.unavailable import MeasureUnavailable

#: Power iteration ends after so many steps, or once the norm changes relatively by less.
STEPS, TOLERANCE = 100, 1e-5


@shared
def singular_values(subject: Subject, weights: str = "trained") -> list[Array]:
    """Singular values, largest first, of the matrix of every kernel of the folded network, float64."""
    return [np.linalg.svd(matrix, compute_uv=False) for matrix in matrices(subject, weights)]


@shared
def matrices(subject: Subject, weights: str) -> list[Array]:
    """Matrices of all kernels, float64: `trained`, `initial`, or the `difference` of the two."""
    if weights == "difference":
        pairs = zip(matrices(subject, "trained"), matrices(subject, "initial"), strict=True)
        return [trained - initial for trained, initial in pairs]
    network = subject.folded if weights == "trained" else subject.folded_at_start
    return [kernel.matrix for kernel in network.kernels]


@shared
def spectral_norms(subject: Subject, variant: str, weights: str = "trained") -> list[float]:
    """Spectral norms of all layers of the folded network.

    Args:
        subject: the network.
        variant: `matrix` takes the kernel as a matrix; `fft` a convolution with periodic borders on the layer's
            own feature map (Sedghi, Gupta and Long 2018); `op` the layer with its padding and stride.
        weights: `trained`, or their `difference` from the initial ones.
    """
    if variant == "matrix":
        return [float(values[0]) for values in singular_values(subject, weights)]
    norm = VARIANTS[variant]
    network = subject.folded
    arrays = [kernel.array.astype(np.float64) for kernel in network.kernels]
    if weights == "difference":
        arrays = [a - k.array for a, k in zip(arrays, subject.folded_at_start.kernels, strict=True)]
    return [norm(network, kernel, array) for kernel, array in zip(network.kernels, arrays, strict=True)]


def periodic_norm(network: Network, kernel: Kernel, array: Array) -> float:
    """Norm of the layer with periodic borders: the largest over frequencies of the transformed kernel's norm."""
    node = network.nodes[kernel.node]
    if node.kind == "Dense":
        return _largest(array.reshape(-1, array.shape[-1]))
    if node.kind != "Conv2D" or node.config.get("groups", 1) != 1:
        return operator_norm(network, kernel, array)
    *sides, _ = network.shape(node.sources[0])
    strides = tuple(node.config["strides"])
    sides = [max(side, taps) for side, taps in zip(sides, array.shape[:2], strict=True)]
    if any(side % stride for side, stride in zip(sides, strides, strict=True)):
        return operator_norm(network, kernel, array)
    transformed = np.fft.fft2(_dilated(array, node.config["dilation_rate"]), s=sides, axes=(0, 1))
    stacked = _aliased(transformed, strides)
    half = stacked[:, : stacked.shape[1] // 2 + 1] if strides == (1, 1) else stacked  # the rest is its conjugate
    return float(_largest(half) / np.sqrt(np.prod(strides)))


def _dilated(array: Array, rate: tuple[int, int]) -> Array:
    height, width = ((taps - 1) * r + 1 for taps, r in zip(array.shape[:2], rate, strict=True))
    wide = np.zeros((height, width, *array.shape[2:]))
    wide[:: rate[0], :: rate[1]] = array
    return wide


def _aliased(transformed: Array, strides: tuple[int, int]) -> Array:
    """Stack along the inputs the frequencies that a stride makes one: (h / s, w / s, s s inputs, outputs)."""
    height, width, inputs, outputs = transformed.shape
    s, t = strides
    parts = transformed.reshape(s, height // s, t, width // t, inputs, outputs)
    return parts.transpose(1, 3, 0, 2, 4, 5).reshape(height // s, width // t, s * t * inputs, outputs)


def _largest(matrices: Array) -> float:
    """Largest singular value of all matrices (..., rows, columns), by the smaller of their Gram matrices."""
    adjoint = matrices.conj().swapaxes(-1, -2)
    rows, columns = matrices.shape[-2:]
    gram = matrices @ adjoint if rows < columns else adjoint @ matrices
    return float(np.sqrt(max(np.linalg.eigvalsh(gram)[..., -1].max(), 0.0)))


def operator_norm(network: Network, kernel: Kernel, array: Array) -> float:
    """Norm of the layer as it is, padding and stride included, by power iteration from a fixed start."""
    node = network.nodes[kernel.node]
    if node.kind == "Dense":
        return _largest(array.reshape(-1, array.shape[-1]))
    if node.kind.startswith("Separable"):
        raise MeasureUnavailable(f"layer {node.name}: the norm of {node.kind} as an operator is not implemented")
    layer = network.layer(kernel.node)
    shape = (1, *network.shape(node.sources[0]))
    step = network.compiled(("power iteration", kernel.node), _step(layer, shape), tf.TensorSpec(shape, tf.float32))
    weights = layer.get_weights()
    stored = np.swapaxes(array, -1, -2) if node.kind.endswith("Transpose") else array
    layer.set_weights([stored, *(np.zeros_like(bias) for bias in weights[1:])])
    try:
        return _iterate(step, shape)
    finally:
        layer.set_weights(weights)


def _step(layer: Any, shape: tuple[int, ...]) -> Callable[[Any], tuple[Any, Any]]:
    def step(direction: Any) -> tuple[Any, Any]:
        """The norm of A v, and A' A v."""
        with tf.GradientTape() as tape:
            tape.watch(direction)
            half = tf.reduce_sum(tf.square(layer(direction))) / 2
        return tf.sqrt(2 * half), tf.reshape(tape.gradient(half, direction), shape)

    return step


def _iterate(step: Callable[[Any], tuple[Any, Any]], shape: tuple[int, ...]) -> float:
    direction = np.random.default_rng(0).normal(size=shape)
    norm = before = 0.0
    for _ in range(STEPS):
        length = float(np.linalg.norm(direction))
        if length == 0:
            return 0.0
        found, image = step(tf.constant(direction / length, tf.float32))
        norm, direction = float(found), image.numpy().astype(np.float64)
        if abs(norm - before) <= TOLERANCE * norm:
            break
        before = norm
    return norm


VARIANTS = {"fft": periodic_norm, "op": operator_norm}
