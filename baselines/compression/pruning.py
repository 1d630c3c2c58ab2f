"""Pruning and quantization: how far weights can be removed or rounded with little loss of training accuracy.

Weights: folded.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from baselines.core.bisection import bisect
from baselines.core.measure import Need, measure
from baselines.core.outputs import accuracy, folded_logits
from baselines.core.sample import Array, Sample
from baselines.core.subject import Subject
from baselines.network import Network

#: Number of halvings of the interval [0, 1] in which the fraction is searched.
N_HALVINGS = 12

#: Value if all smaller numbers of bits cost too much accuracy.
MOST_BITS = 16

#: Accuracies that differ by less are equal up to rounding.
ROUNDING = 1e-9


@measure(Need.LABELS)
def pruning_tolerance(
    subject: Subject, *, accuracy_drop: float = 0.1, per_layer: bool = True, n_samples: int = 10_000, seed: int = 0
) -> float:
    """Minus the largest fraction of weights that can be pruned with little loss of training accuracy.

    Formula: -max {p : accuracy without the fraction p of weights >= accuracy - 0.1}. Range: [-1, 0]; -1 if all kernels
    can be zero. Source: definition of this library; pruning by magnitude as in Han et al. 2015, arXiv 1506.02626. Work:
    14 forward passes.

    The smallest weights are set to zero first; biases are not pruned. Bisection finds the fraction to 1/4096.

    Args:
        per_layer: prune the same fraction of each kernel. If false, prune the smallest weights of the whole network;
            the value then depends on the scales of layers.
    """
    network = subject.folded
    kernels = [kernel.numpy() for kernel in kernel_variables(network)]
    ranks = _ranks(kernels, per_layer=per_layer)

    def pruned(fraction: float) -> list[Array]:
        return [np.where(rank <= fraction, 0, kernel) for rank, kernel in zip(ranks, kernels, strict=True)]

    with network.restoring():
        is_harmless = _judge(subject, n_samples, seed, accuracy_drop)
        if is_harmless(pruned(1)):
            return -1.0
        return -bisect(lambda fraction: not is_harmless(pruned(fraction)), 0.0, 1.0, N_HALVINGS).low


@measure(Need.LABELS)
def quantization_bits(subject: Subject, *, accuracy_drop: float = 0.1, n_samples: int = 10_000, seed: int = 0) -> float:
    """Smallest number of bits per weight that keeps the training accuracy.

    Formula: min {b : accuracy with 2^b - 1 equidistant values for each layer's weights >= accuracy - 0.1}. Range: 1, 2,
    ..., 16. Source: definition of this library. Work: about 5 forward passes, up to 17.

    The 2^b - 1 values are equidistant between minus and plus the largest magnitude of the kernel. With b = 1, each
    weight becomes its sign times the mean magnitude of the kernel. If 15 bits cost too much accuracy, the value is 16,
    which is not tested. Biases are not rounded.
    """
    network = subject.folded
    kernels = [kernel.numpy() for kernel in kernel_variables(network)]
    with network.restoring():
        is_harmless = _judge(subject, n_samples, seed, accuracy_drop)
        enough = (bits for bits in range(1, MOST_BITS) if is_harmless([rounded(kernel, bits) for kernel in kernels]))
        return next(enough, MOST_BITS)


def rounded(kernel: Array, bits: int) -> Array:
    """Round a kernel to 2^bits - 1 equidistant values around zero; for 1 bit, to signs times the mean magnitude."""
    sizes = np.abs(kernel)
    largest, steps = sizes.max(), 2 ** (bits - 1) - 1
    if not largest:
        return kernel
    found: Array = np.round(kernel / largest * steps) / steps * largest if steps else np.copysign(sizes.mean(), kernel)
    return found


def kernel_variables(network: Network) -> list[Any]:
    """Return the network's variables that are kernels."""
    return [variable for variable in network.variables if len(variable.shape) > 1]


def _judge(subject: Subject, n_samples: int, seed: int, accuracy_drop: float) -> Callable[[list[Array]], bool]:
    network, sample = subject.folded, subject.sample(n_samples, seed)
    least = accuracy(folded_logits(subject, n_samples, seed), sample.labels) - accuracy_drop - ROUNDING

    def is_harmless(kernels: list[Array]) -> bool:
        for variable, kernel in zip(kernel_variables(network), kernels, strict=True):
            variable.assign(kernel)
        return _accuracy(network, sample) >= least

    return is_harmless


def _accuracy(network: Network, sample: Sample) -> float:
    return accuracy(network.outputs(sample.inputs, often=True)[0], sample.labels)


def _ranks(kernels: Sequence[Array], *, per_layer: bool) -> list[Array]:
    if per_layer:
        return [_rank(kernel.reshape(-1)).reshape(kernel.shape) for kernel in kernels]
    together = _rank(np.concatenate([kernel.reshape(-1) for kernel in kernels]))
    parts = np.split(together, np.cumsum([kernel.size for kernel in kernels])[:-1])
    return [part.reshape(kernel.shape) for part, kernel in zip(parts, kernels, strict=True)]


def _rank(values: Array) -> Array:
    ranks = np.empty(len(values))
    ranks[np.argsort(np.abs(values), kind="stable")] = np.arange(1, len(values) + 1) / len(values)
    return ranks
