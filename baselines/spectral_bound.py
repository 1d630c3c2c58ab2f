"""The spectral generalization bound of convolutional networks with its constants."""

import math

import numpy as np

from baselines.margin import positive_margin
from baselines.measure import Need, measure
from baselines.norm import TINY, log_sum, squared_frobenius, squared_spectral
from baselines.subject import Subject

_DATA = {Need.DATA, Need.LABELS}
_FORMULA = (
    "ln of (prod_i S_i sum_j {} / S_j (84 B sum_i k_i sqrt(c_i) + sqrt(ln(4 n^2 d)))^2 + ln(m / delta)) / gamma^2"
)


def _bound(subject: Subject, weights: str, n_samples: int, delta: float, seed: int) -> float:
    """Log of the bound; B is the largest norm of a training input, n the side of the inputs."""
    network, examples = subject.folded, subject.examples
    norms = squared_spectral(subject)
    pairs = zip(squared_frobenius(subject, weights), norms, strict=True)
    shares = math.log(max(sum(share / norm if norm else 0.0 for share, norm in pairs), TINY))
    largest = float(np.sqrt(np.square(examples.inputs.reshape(len(examples), -1), dtype=np.float64).sum(axis=1).max()))
    widths = sum(_side(kernel.array.shape) * math.sqrt(kernel.array.shape[-1]) for kernel in network.kernels)
    side = network.description.input_shape[0]
    factor = 84 * largest * widths + math.sqrt(math.log(4 * side**2 * len(norms)))
    product = log_sum(norms) + shares + 2 * math.log(factor)
    total = float(np.logaddexp(product, math.log(math.log(len(examples) / delta))))
    return total - 2 * math.log(positive_margin(subject, n_samples, seed))


def _side(shape: tuple[int, ...]) -> int:
    """k, the side of a kernel's window; 1 for dense layers."""
    return shape[0] if len(shape) > 2 else 1


@measure(
    family="margin", meaning="spectral bound with the distance from initialization",
    formula=_FORMULA.format("|W_j - W0_j|_F^2"), source="Jiang et al. 2019, arXiv 1912.02178, eq. 25",
    cost="1 F and SVD", needs={*_DATA, Need.INITIAL_WEIGHTS},
)  # fmt: skip
def log_spec_init(subject: Subject, *, n_samples: int = 10_000, delta: float = 0.01, seed: int = 0) -> float:
    """Logarithm of the bound that holds with probability 1 - delta."""
    return _bound(subject, "difference", n_samples, delta, seed)


@measure(
    family="margin", meaning="spectral bound with the norm", formula=_FORMULA.format("F_j"),
    source="Jiang et al. 2019, arXiv 1912.02178, eq. 26", cost="1 F and SVD", needs=_DATA,
)  # fmt: skip
def log_spec_orig(subject: Subject, *, n_samples: int = 10_000, delta: float = 0.01, seed: int = 0) -> float:
    """Logarithm of the bound that holds with probability 1 - delta."""
    return _bound(subject, "trained", n_samples, delta, seed)
