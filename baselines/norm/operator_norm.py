"""Spectral norms of convolutions: with the layer's own padding, and with periodic borders.

With periodic borders, the norm follows from the kernel's Fourier transform (Sedghi et al. 2018, arXiv 1805.10408).
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from baselines.core.eigenvalues import largest_eigenvalue_of_positive
from baselines.core.lazy import tf
from baselines.core.sample import Array
from baselines.core.streams import stream
from baselines.network import INPUT, Network, Nodes
from baselines.norm.linear_map import LinearMap

#: Maximum size in bytes of a part of the transformed kernel.
BYTES = 2**26


def fourier_norm(layer: LinearMap, sides: Sequence[int], strides: Sequence[int]) -> float:
    """Return the largest singular value of a periodic convolution on a feature map of `sides`, multiples of `strides`.

    At every output frequency, the convolution is a small matrix. With strides, several input frequencies (aliases) have
    the same output frequency. The matrix has a row for each pair of an input channel and such an input frequency.
    """
    groups, *_, inputs, outputs = layer.kernel.shape
    kernel = layer.kernel.reshape(groups, -1, inputs * outputs)
    places = np.indices(layer.window).reshape(len(sides), -1) * np.reshape(layer.dilation, (-1, 1))
    waves = np.exp(-2j * np.pi * (_frequencies(sides, strides) / sides) @ places)  # (frequencies, aliases, window)
    rows = waves.shape[1] * inputs
    step = max(BYTES // (16 * groups * rows * outputs), 1)
    largest = 0.0
    for some in (waves[i : i + step] for i in range(0, len(waves), step)):
        parts = some.reshape(1, -1, some.shape[-1]) @ kernel  # (groups, frequencies and aliases, inputs and outputs)
        largest = max(largest, largest_singular_value(parts.reshape(-1, rows, outputs)))
    return largest / math.sqrt(math.prod(strides))


def _frequencies(sides: Sequence[int], strides: Sequence[int]) -> Array:
    """Return the input frequencies of each output frequency, shape (output frequencies, aliases, axes).

    Conjugate frequencies have equal singular values, so most pairs are represented by a single frequency.
    """
    coarse = [side // stride for side, stride in zip(sides, strides, strict=True)]
    halved = np.indices([*coarse[:-1], coarse[-1] // 2 + 1]).reshape(len(sides), -1).T
    aliases = np.indices(strides).reshape(len(sides), -1).T
    found: Array = halved[:, None] + aliases * coarse
    return found


def gram(matrices: Array) -> Array:
    """Return the Gram matrices (..., n, n) of matrices (..., rows, columns), n = min(rows, columns)."""
    adjoints = matrices.conj().swapaxes(-1, -2)
    rows, columns = matrices.shape[-2:]
    found: Array = matrices @ adjoints if rows < columns else adjoints @ matrices
    return found


def largest_singular_value(matrices: Array) -> float:
    """Return the largest singular value among all matrices (n, rows, columns)."""
    return math.sqrt(max(float(np.linalg.eigvalsh(gram(matrices))[:, -1].max()), 0.0))


#: A layer with at most this many inputs is converted to a dense matrix.
SMALL = 128

#: Settings on which the linear map of a convolution depends.
_SETTINGS = ("kernel_size", "strides", "padding", "dilation_rate", "depth_multiplier", "data_format")


def operator_norm(layer: LinearMap, seed: int = 0) -> float:
    """Return the largest singular value of a convolution with its own padding and strides, by Lanczos' iteration."""
    return max(_norm(Network(alone), seed) for alone in _alone(layer))


def _alone(layer: LinearMap) -> Iterator[Nodes]:
    node, groups = layer.node, layer.kernel
    if node.kind.startswith(("Depthwise", "Separable")):
        config = {name: node.config[name] for name in _SETTINGS if name in node.config} | {"use_bias": False}
        kernel = np.moveaxis(groups[..., 0, :], 0, -2)  # all channels together
        yield _network(node.kind.replace("Separable", "Depthwise"), config, kernel, layer, channels=len(groups))
        return
    config = {**node.config, "use_bias": False, "filters": groups.shape[-1]}
    if "groups" in config:
        config["groups"] = 1
    for kernel in groups:
        stored = np.swapaxes(kernel, -1, -2) if node.kind.endswith("Transpose") else kernel
        yield _network(node.kind, config, stored, layer, channels=kernel.shape[-2])


def _network(kind: str, config: dict[str, Any], kernel: Any, layer: LinearMap, channels: int) -> Nodes:
    node = replace(layer.node, kind=kind, config=config, weights=(kernel,), sources=(INPUT,))
    return Nodes((*layer.sides, channels), (node,), ())


def _norm(network: Network, seed: int) -> float:
    shape = network.shape(INPUT)
    size = math.prod(shape)
    if size <= SMALL:
        rows = network.outputs(np.eye(size, dtype=np.float32).reshape(-1, *shape))[0]
        return float(np.linalg.norm(rows.reshape(size, -1), 2))
    if not any(np.any(array) for array in network.nodes[0].weights):
        return 0.0  # Lanczos' iteration cannot start
    return math.sqrt(max(_largest_eigenvalue(network, size, seed), 0.0))


def _largest_eigenvalue(network: Network, size: int, seed: int) -> float:
    def there_and_back(inputs: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(inputs)
            outputs = network.logits(inputs)
        return tape.gradient(outputs, inputs, output_gradients=outputs)

    run = network.compiled("there and back", there_and_back, network.spec(INPUT))
    shape = (1, *network.shape(INPUT))
    start = stream("start of the operator norm", seed).normal(size=size).astype(np.float32)
    return largest_eigenvalue_of_positive(
        lambda vector: run(vector.reshape(shape).astype(np.float32)).numpy().ravel(), start
    )
