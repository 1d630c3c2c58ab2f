"""Norms of the weights, and of what training added to them.

Batch normalization is folded first, and biases are left out. Squared norms count as at least 1e-30 where logarithms
or quotients are taken, so a layer of zeros gives a finite value.
"""

import math

import numpy as np

from baselines.core.measure import Cost, Need, measure
from baselines.core.sample import Array
from baselines.core.subject import Subject
from baselines.norm.terms import Terms, log_prod, log_sum_of_ratios, norm_measure, sum_of_ratios

JIANG = "Jiang et al. 2019, arXiv 1912.02178, eq. "
_DZIUGAITE = "Dziugaite et al. 2020, arXiv 2010.11924"
_NEYSHABUR = "Neyshabur et al. 2019, arXiv 1805.12076, and its code"
_INITIAL = {Need.INITIAL_WEIGHTS}


@norm_measure(meaning="Euclidean norm of the kernels", formula="|w|_2", source=_DZIUGAITE)
def l2_norm(terms: Terms) -> float:
    """Euclidean norm of all kernels. Range: [0, inf)."""
    return math.sqrt(terms.fro.sum())


@norm_measure(meaning="squared Frobenius norms, summed over layers", formula="sum_i F_i", source=JIANG + "42")
def param_norm(terms: Terms) -> float:
    """Sum of the squared Frobenius norms. Range: [0, inf)."""
    return float(terms.fro.sum())


@norm_measure(meaning="log of the product of the squared Frobenius norms", formula="sum_i ln F_i", source=JIANG + "37")
def log_prod_of_fro(terms: Terms) -> float:
    """Logarithm of the product of the squared Frobenius norms. Range: (-inf, inf)."""
    return log_prod(terms.fro)


@norm_measure(
    meaning="log of d times the geometric mean of the squared Frobenius norms",
    formula="ln d + (sum_i ln F_i) / d",
    source=JIANG + "39",
)
def log_sum_of_fro(terms: Terms) -> float:
    """Logarithm of d times the geometric mean of the squared Frobenius norms. Range: (-inf, inf)."""
    return math.log(terms.depth) + log_prod(terms.fro) / terms.depth


@norm_measure(
    meaning="log of the product of the squared spectral norms",
    formula="sum_i ln S_i",
    source=JIANG + "32",
    spectral=True,
)
def log_prod_of_spec(terms: Terms) -> float:
    """Logarithm of the product of the squared spectral norms. Range: (-inf, inf)."""
    return log_prod(terms.spec)


@norm_measure(
    meaning="log of d times the geometric mean of the squared spectral norms",
    formula="ln d + (sum_i ln S_i) / d",
    source=JIANG + "35",
    spectral=True,
)
def log_sum_of_spec(terms: Terms) -> float:
    """Logarithm of d times the geometric mean of the squared spectral norms. Range: (-inf, inf)."""
    return math.log(terms.depth) + log_prod(terms.spec) / terms.depth


@norm_measure(
    meaning="sum over layers of the kernel's squared Frobenius norm over the squared spectral norm",
    formula="sum_i F_i / S_i",
    source=JIANG + "33",
    spectral=True,
)
def fro_over_spec(terms: Terms) -> float:
    """Sum of ratios of norms; a layer of zeros counts 0. Range: [0, inf).

    Of kernels as matrices they are stable ranks. With the spectral norms of convolutions they are not: the Frobenius
    norm stays that of the kernel, as in the code of Dziugaite et al. 2020, and a ratio may be less than 1.
    """
    return sum_of_ratios(terms.fro, terms.spec)


@norm_measure(
    meaning="Euclidean distance of the kernels from their initial values",
    formula="|w - w0|_2",
    source=_DZIUGAITE,
    needs=_INITIAL,
)
def l2_dist(terms: Terms) -> float:
    """Euclidean distance of all kernels from their initial values. Range: [0, inf)."""
    return math.sqrt(terms.fro_change.sum())


@norm_measure(
    meaning="squared Frobenius distances from the initial kernels, summed over layers",
    formula="sum_i |W_i - W0_i|_F^2",
    source=JIANG + "40",
    needs=_INITIAL,
)
def fro_dist(terms: Terms) -> float:
    """Sum of the squared Frobenius distances from the initial kernels. Range: [0, inf)."""
    return float(terms.fro_change.sum())


@norm_measure(
    meaning="squared spectral distances from the initial kernels, summed over layers",
    formula="sum_i |W_i - W0_i|_2^2",
    source=JIANG + "41",
    needs=_INITIAL,
    spectral=True,
)
def dist_spec_init(terms: Terms) -> float:
    """Sum of the squared spectral distances from the initial kernels. Range: [0, inf)."""
    return float(terms.spec_change.sum())


@measure(
    meaning="squared Euclidean distance of all weights from their initial values",
    formula="sum over all arrays a of |a - a0|^2",
    source="PGDL starting kit (Jiang et al. 2020, arXiv 2012.07976)",
    cost=Cost.WEIGHTS,
    work="none",
    needs={Need.INITIAL_WEIGHTS},
)
def distance_from_init(subject: Subject) -> float:
    """Squared Euclidean distance of the weights from their initial values. Range: [0, inf).

    Every array of `get_weights()` counts, biases and the state of batch normalization included, as in the
    starting kit of the competition; nothing is folded.
    """
    pairs = zip(subject.weights, subject.initial_weights, strict=True)
    return sum(float(np.sum(np.square(final - initial, dtype=np.float64))) for final, initial in pairs)


@norm_measure(
    meaning="log of the product of the layers' L(1, inf) norms",
    formula="sum_i ln max_j |w_ij|_1, w_ij the weights of output unit j",
    source=_NEYSHABUR,
    normalizable=False,
)
def l1_max_norm(terms: Terms) -> float:
    """Logarithm of the product of the layers' largest 1-norm of an output unit's weights. Range: (-inf, inf)."""
    return _log_prod([np.abs(layer.matrices).sum(axis=1).max() for layer in terms.layers])


@norm_measure(
    meaning="log of the product of the layers' L(3, 1.5) norms",
    formula="sum_i ln (sum_j |w_ij|_3^1.5)^(2/3), w_ij the weights of output unit j",
    source=_NEYSHABUR,
    normalizable=False,
)
def l3_15_norm(terms: Terms) -> float:
    """Logarithm of the product of the 1.5-norms of the 3-norms of output units' weights. Range: (-inf, inf)."""
    cubes = [(np.abs(layer.matrices) ** 3).sum(axis=1) for layer in terms.layers]
    return _log_prod([np.sqrt(of_layer).sum() ** (2 / 3) for of_layer in cubes])


@norm_measure(
    meaning="log of the product of the layers' trace norms",
    formula="sum_i ln sum of the singular values of W_i",
    source=_NEYSHABUR,
    normalizable=False,
)
def trace_norm_prod(terms: Terms) -> float:
    """Logarithm of the product of the sums of the layers' singular values. Range: (-inf, inf)."""
    return _log_prod([values.sum() for values in terms.singular_values])


def _log_prod(norms: list[float]) -> float:
    """Logarithm of the product of norms that are not squared."""
    return log_prod(np.square(norms)) / 2


@norm_measure(
    meaning="log of the spectral complexity, with the distance from the initial weights",
    formula="ln(prod_i |W_i|_2 (sum_i (|(W_i - W0_i)^T|_{2,1} / |W_i|_2)^(2/3))^(3/2))",
    source="Bartlett et al. 2017, arXiv 1706.08498, eq. 1.2",
    needs=_INITIAL,
    spectral=True,
    normalizable=False,
)
def spectral_complexity_2_1(terms: Terms) -> float:
    """Logarithm of the spectral complexity. Range: (-inf, inf).

    The (2, 1) norm sums the 2-norms of the weights of each output unit. Weights that have not moved at all count
    as ratios whose powers sum to 1e-30.
    """
    distances = np.array([np.linalg.norm(layer.matrices, axis=1).sum() for layer in terms.changes])
    ratios = np.cbrt(distances**2), np.cbrt(terms.spec)
    return log_prod(terms.spec) / 2 + 1.5 * log_sum_of_ratios(*ratios)


@norm_measure(
    meaning="sum of the effective ranks",
    formula="sum_i exp(-sum_j p_ij ln p_ij), p_ij the singular values of W_i over their sum",
    source="Roy and Vetterli 2007",
    normalizable=False,
)
def effective_rank_sum(terms: Terms) -> float:
    """Sum over layers of the exponential of the entropy of the singular values; 0 for zeros. Range: [0, inf)."""
    return sum(_effective_rank(values) for values in terms.singular_values)


def _effective_rank(values: Array) -> float:
    if not values.any():
        return 0.0
    shares = values[values > 0] / values.sum()
    return math.exp(-float(np.sum(shares * np.log(shares))))
