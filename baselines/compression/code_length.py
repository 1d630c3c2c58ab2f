"""Code length of a network with rounded weights, and the PAC-Bayes bound on the test error that follows from it."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from baselines.compression.pruning import kernel_variables, rounded
from baselines.core.kl_bound import log_bound
from baselines.core.measure import Need, measure
from baselines.core.outputs import accuracy
from baselines.core.sample import Array
from baselines.core.subject import Subject
from baselines.network import Network

#: Maximum number of bits per rounded weight.
MOST_BITS = 8

#: Bits of a number that is not rounded.
FULL = 32

#: delta, the probability with which the bound may fail.
CONFIDENCE = 0.05


@measure(Need.LABELS)
def lotfi_compression_bound(subject: Subject, *, n_samples: int = 10_000, seed: int = 0) -> float:
    """PAC-Bayes bound on the test error, computed from the code length of the rounded weights.

    Formula: -ln(1 - p), kl(e || p) = (c ln 2 + 2 ln c + ln(2 m^(1/2) / delta)) / m, p the bound, kl the relative
    entropy of Bernoulli distributions, c code length in bits, e training error after rounding, m training examples,
    delta = 0.05. Range: [0, inf). Source: Lotfi et al. 2022, arXiv 2211.13609, and its code, without their training in
    a random subspace. Work: up to 8 forward passes. Weights: folded. Refused: after rounding, all training examples are
    misclassified at every number of bits.

    Each kernel is rounded as for `quantization_bits`. Its entries are coded by arithmetic coding, preceded by their
    frequencies. Every other parameter takes 32 bits. The value is the smallest of the bounds for 1 to 8 bits per
    weight.

    The authors train only the coordinates in a random subspace, and quantize during training, which makes their bounds
    small. Here the weights of the trained network are rounded without further training. With more weights than training
    examples, the bound p is nearly 1, and the value is about the bits per weight times the weights per example. The
    authors use Catoni's bound with the best parameter, which nearly equals the bound used here.
    """
    network, sample, m = subject.folded, subject.sample(n_samples, seed), subject.examples.population
    variables = kernel_variables(network)
    kernels = [variable.numpy() for variable in variables]
    codes = {bits: _complexity(network, [rounded(kernel, bits) for kernel in kernels], m) for bits in _CHOICES}
    best = math.inf
    with network.restoring():
        for bits in sorted(codes, key=lambda bits: codes[bits]):
            if log_bound(0.0, codes[bits]) >= best:
                break
            for variable, kernel in zip(variables, kernels, strict=True):
                variable.assign(rounded(kernel, bits))
            error = 1 - accuracy(network.outputs(sample.inputs, often=True)[0], sample.labels)
            if error < 1:
                best = min(best, log_bound(error, codes[bits]))
    return best if math.isfinite(best) else log_bound(1.0, 0.0)


_CHOICES = range(1, MOST_BITS + 1)


def _complexity(network: Network, kernels: Sequence[Array], m: int) -> float:
    numbers = sum(array.size for node in network.nodes for array in node.weights)
    others = numbers - sum(kernel.size for kernel in kernels)
    bits = math.log2(MOST_BITS) + FULL * others + sum(map(code_length, kernels))
    return (bits * math.log(2) + 2 * math.log(bits) + math.log(2 * math.sqrt(m) / CONFIDENCE)) / m


def code_length(kernel: Array) -> float:
    """Return the bits of a kernel's arithmetic code, including the kernel's scale and the frequencies of its values."""
    counts: Any = np.unique(kernel, return_counts=True)[1]
    shares = counts / kernel.size
    entropy = -float(np.sum(counts * np.log2(shares)))
    return math.ceil(entropy) + 1 + FULL + len(counts) * math.ceil(math.log2(kernel.size + 1))
