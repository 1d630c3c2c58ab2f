"""The spectral generalization bound of convolutional networks, including its constants.

Weights: folded.
"""

import math
from typing import Any

import numpy as np

from baselines.core.lazy import tf
from baselines.core.measure import Need
from baselines.core.output_margin import positive_margin
from baselines.core.sample import Array
from baselines.core.subject import Subject, shared
from baselines.network import INPUT, joined
from baselines.network.constants import weights_begin
from baselines.norm.terms import Terms, log_prod, log_sum_of_ratios, norm_measure
from baselines.size.counts import side


@norm_measure(Need.INITIAL_WEIGHTS, margin=positive_margin, spectral=True)
def log_spec_init(terms: Terms, *, delta: float = 0.01) -> float:
    """Logarithm of m times the spectral bound, with distances from the initial weights.

    Formula: ln((prod_i S_i sum_j |W_j - W0_j|_F^2 / S_j (84 B sum_i k_i sqrt(c_i) + sqrt(ln(4 n^2 d)))^2 + ln(m /
    delta)) / gamma^2), d kernels W_i, initially W0_i, with squared spectral norms S_i, windows of side k_i and c_i
    output channels; m inputs, n their longest side, B their largest norm after constant layers; gamma the 10th
    percentile of the margins, delta the probability of failure. Source: Jiang et al. 2019, arXiv 1912.02178, eq. 25.
    """
    return _bound(terms, terms.fro_change, delta)


@norm_measure(margin=positive_margin, spectral=True)
def log_spec_orig(terms: Terms, *, delta: float = 0.01) -> float:
    """Logarithm of m times the spectral bound, with norms of the weights.

    Formula: ln((prod_i S_i sum_j F_j / S_j (84 B sum_i k_i sqrt(c_i) + sqrt(ln(4 n^2 d)))^2 + ln(m / delta)) /
    gamma^2), d kernels with squared Frobenius norms F_i, squared spectral norms S_i, windows of side k_i and c_i output
    channels; m inputs, n their longest side, B their largest norm after constant layers; gamma the 10th percentile of
    the margins, delta the probability of failure. Source: Jiang et al. 2019, arXiv 1912.02178, eq. 26.
    """
    return _bound(terms, terms.fro, delta)


def _bound(terms: Terms, norms: Array, delta: float) -> float:
    examples = terms.subject.examples
    largest = math.sqrt(largest_square(terms.subject))
    widths = sum(math.sqrt(math.prod(layer.window) * layer.channels) for layer in terms.layers)
    pixels = side(terms.subject.network) ** 2
    constant = 84 * largest * widths + math.sqrt(math.log(4 * pixels * terms.depth))
    main = log_prod(terms.spec) + log_sum_of_ratios(norms, terms.spec) + 2 * math.log(constant)
    return float(np.logaddexp(main, math.log(math.log(len(examples) / delta)))) - 2 * math.log(terms.margin)


@shared
def largest_square(subject: Subject) -> float:
    """Return B^2, the largest squared norm that a training input has after constant layers such as `Rescaling`."""
    network, inputs = subject.network, subject.examples.inputs
    begin = weights_begin(network.nodes)
    if begin == INPUT:
        rows = inputs.reshape(len(inputs), -1)
        return float(np.einsum("nf,nf->n", rows, rows).max())

    def run(images: Any) -> list[Any]:
        (rescaled,) = network.run({INPUT: images}, [begin])
        return [tf.reduce_sum(tf.square(rescaled), axis=list(range(1, len(rescaled.shape))))]

    return float(joined(network.in_batches("squared norms", run, [inputs]))[0].max())
