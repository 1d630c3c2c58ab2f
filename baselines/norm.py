"""Norms of the weights. Batch normalization is folded first; biases do not count unless it says so."""

import functools
import math
from collections.abc import Callable

import numpy as np

from baselines.measure import Need, measure
from baselines.sample import Array
from baselines.spectral import matrices, singular_values, spectral_norms
from baselines.subject import Subject

_JIANG = "Jiang et al. 2019, arXiv 1912.02178, eq. "
_DZIUGAITE = "Dziugaite et al. 2020, arXiv 2010.11924"
_NEYSHABUR = "Neyshabur et al. 2018, arXiv 1805.12076"

#: Smallest number whose logarithm is taken: a layer that is all zeros.
TINY = 1e-300


def log_sum(values: list[float]) -> float:
    """Sum of the logarithms, the log of the product."""
    return sum(math.log(max(value, TINY)) for value in values)


def log_mean_form(log_product: float, depth: int) -> float:
    """ln(d P^(1/d)) of the logarithm of a product P of d factors."""
    return math.log(depth) + log_product / depth


def squared_frobenius(subject: Subject, weights: str = "trained") -> list[float]:
    """F_i = |W_i|_F^2 of every kernel; `weights` as in `baselines.spectral.matrices`."""
    return [float(np.sum(matrix**2)) for matrix in matrices(subject, weights)]


def squared_spectral(subject: Subject, variant: str = "matrix", weights: str = "trained") -> list[float]:
    """S_i, the square of every layer's spectral norm."""
    return [norm**2 for norm in spectral_norms(subject, variant, weights)]


@measure(family="norm", meaning="Euclidean norm of the kernels", formula="|w|_2", source=_DZIUGAITE, cost="none")
def l2_norm(subject: Subject) -> float:
    """Euclidean norm of all kernels. Range: [0, inf)."""
    return math.sqrt(sum(squared_frobenius(subject)))


@measure(family="norm", meaning="squared norm of the kernels", formula="sum_i F_i", source=_JIANG + "42", cost="none")
def param_norm(subject: Subject) -> float:
    """Sum of the squared Frobenius norms. Range: [0, inf)."""
    return sum(squared_frobenius(subject))


@measure(
    family="norm", meaning="product of the squared Frobenius norms", formula="sum_i ln F_i", source=_JIANG + "37",
    cost="none",
)  # fmt: skip
def log_prod_of_fro(subject: Subject) -> float:
    """Logarithm of the product of squared Frobenius norms."""
    return log_sum(squared_frobenius(subject))


@measure(
    family="norm", meaning="mean form of the product of squared Frobenius norms",
    formula="ln d + (1/d) sum_i ln F_i", source=_JIANG + "39", cost="none",
)  # fmt: skip
def log_sum_of_fro(subject: Subject) -> float:
    """Logarithm of d times the geometric mean of the squared Frobenius norms."""
    norms = squared_frobenius(subject)
    return log_mean_form(log_sum(norms), len(norms))


@measure(
    family="norm", meaning="distance of the kernels from their initial values", formula="|w - w0|_2",
    source=_DZIUGAITE, cost="none", needs={Need.INITIAL_WEIGHTS},
)  # fmt: skip
def l2_dist(subject: Subject) -> float:
    """Euclidean distance of all kernels from their initial values. Range: [0, inf)."""
    return math.sqrt(sum(squared_frobenius(subject, "difference")))


@measure(
    family="norm", meaning="squared distance of the kernels from their initial values",
    formula="sum_i |W_i - W0_i|_F^2",
    source=_JIANG + "40", cost="none", needs={Need.INITIAL_WEIGHTS},
)  # fmt: skip
def fro_dist(subject: Subject) -> float:
    """Squared Euclidean distance of all kernels from their initial values. Range: [0, inf)."""
    return sum(squared_frobenius(subject, "difference"))


@measure(
    family="norm",
    meaning="squared Euclidean distance of all weights from their initial values",
    formula="sum over all arrays a of |a - a0|^2",
    source="PGDL starting kit (Jiang et al. 2020, arXiv 2012.07976)",
    cost="none",
    needs={Need.INITIAL_WEIGHTS},
)
def distance_from_init(subject: Subject) -> float:
    """Squared Euclidean distance of the weights from their initial values. Range: [0, inf).

    Every array of `get_weights()` counts, biases and the state of batch normalization included, as in the
    starting kit of the competition; nothing is folded.
    """
    pairs = zip(subject.model.get_weights(), subject.initial_weights, strict=True)
    return sum(float(np.sum(np.square(final - initial, dtype=np.float64))) for final, initial in pairs)


def _spectral(variant: str, suffix: str, what: str, cost: str) -> None:
    """Register the measures of spectral norms of one variant."""
    spectral = functools.partial(measure, family="norm", cost=cost, source=_JIANG + "32, 33, 35, 41")

    @spectral(
        name=f"log_prod_of_spec{suffix}", meaning=f"product of the squared spectral norms{what}",
        formula="sum_i ln S_i",
    )  # fmt: skip
    def log_prod_of_spec(subject: Subject) -> float:
        """Logarithm of the product of squared spectral norms."""
        return log_sum(squared_spectral(subject, variant))

    @spectral(
        name=f"log_sum_of_spec{suffix}", meaning=f"mean form of the product of squared spectral norms{what}",
        formula="ln d + (1/d) sum_i ln S_i",
    )  # fmt: skip
    def log_sum_of_spec(subject: Subject) -> float:
        """Logarithm of d times the geometric mean of the squared spectral norms."""
        norms = squared_spectral(subject, variant)
        return log_mean_form(log_sum(norms), len(norms))

    @spectral(name=f"fro_over_spec{suffix}", meaning=f"sum of the stable ranks{what}", formula="sum_i F_i / S_i")
    def fro_over_spec(subject: Subject) -> float:
        """Sum of the layers' stable ranks; a layer of zeros counts 0. Range: [0, inf)."""
        pairs = zip(squared_frobenius(subject), squared_spectral(subject, variant), strict=True)
        return sum(frobenius / norm if norm else 0.0 for frobenius, norm in pairs)

    @spectral(
        name=f"dist_spec_init{suffix}", meaning=f"squared spectral norms of the change in training{what}",
        formula="sum_i |W_i - W0_i|_2^2", needs={Need.INITIAL_WEIGHTS},
    )  # fmt: skip
    def dist_spec_init(subject: Subject) -> float:
        """Sum of the squared spectral norms of the differences from the initial kernels. Range: [0, inf)."""
        return sum(squared_spectral(subject, variant, "difference"))


_spectral("matrix", "", "", "SVD")
_spectral("fft", "_fft", ", convolutions with periodic borders", "SVD at every frequency")
_spectral("op", "_op", ", convolutions as they are", "100 steps of power iteration")


def _layer_norm(name: str, what: str, formula: str, norm: Callable[[Array], float]) -> None:
    """Register the sum of the logarithms of a norm of every layer's matrix, whose columns are output units."""
    meaning = f"product of the layers' {what}"

    @measure(name=name, family="norm", meaning=meaning, formula=formula, source=_NEYSHABUR, cost="none")
    def compute(subject: Subject) -> float:
        """Logarithm of the product over layers."""
        return log_sum([norm(matrix) for matrix in matrices(subject, "trained")])


_layer_norm(
    "l1_max_norm", "norms L(1, inf)", "sum_i ln max_j |column j of W_i|_1",
    lambda matrix: float(np.abs(matrix).sum(axis=0).max()),
)  # fmt: skip
_layer_norm(
    "l3_15_norm", "norms L(3, 1.5)", "sum_i ln (sum_j |column j of W_i|_3^1.5)^(2/3)",
    lambda matrix: float(np.sum((np.abs(matrix) ** 3).sum(axis=0) ** 0.5) ** (2 / 3)),
)  # fmt: skip


@measure(
    family="norm", meaning="product of the layers' trace norms", formula="sum_i ln sum(singular values of W_i)",
    source=_NEYSHABUR, cost="SVD",
)  # fmt: skip
def trace_norm_prod(subject: Subject) -> float:
    """Logarithm of the product over layers of the sum of singular values."""
    return log_sum([float(values.sum()) for values in singular_values(subject)])


@measure(
    family="norm", meaning="sum of the layers' effective ranks",
    formula="sum_i exp(entropy of the normalized singular values of W_i)",
    source="Roy and Vetterli 2007", cost="SVD",
)  # fmt: skip
def effective_rank_sum(subject: Subject) -> float:
    """Sum over layers of the exponential of the entropy of sigma / sum(sigma). Range: [0, sum of ranks]."""
    total = 0.0
    for values in singular_values(subject):
        shares = values[values > 0] / max(values.sum(), TINY)
        total += float(np.exp(-np.sum(shares * np.log(shares)))) if len(shares) else 0.0
    return total


@measure(
    family="norm", meaning="spectral complexity of Bartlett et al.",
    formula="ln of prod_i |W_i|_2 (sum_i (|(W_i - W0_i)^T|_{2,1} / |W_i|_2)^(2/3))^(3/2)",
    source="Bartlett, Foster and Telgarsky 2017, arXiv 1706.08498", cost="SVD", needs={Need.INITIAL_WEIGHTS},
)  # fmt: skip
def spectral_complexity_2_1(subject: Subject) -> float:
    """Logarithm of the spectral complexity; the (2, 1) norm sums the 2-norms of the output units' weights."""
    norms = [max(norm, TINY) for norm in spectral_norms(subject, "matrix")]
    distances = [float(np.linalg.norm(matrix, axis=0).sum()) for matrix in matrices(subject, "difference")]
    ratios = sum((distance / norm) ** (2 / 3) for distance, norm in zip(distances, norms, strict=True))
    return log_sum(norms) + 1.5 * math.log(max(ratios, TINY))
