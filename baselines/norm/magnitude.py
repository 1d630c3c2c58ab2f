"""Norms of the weights, and of their changes by training.

Batch normalization is folded, and biases are left out. In logarithms and denominators, squared norms below 1e-30 are
replaced by 1e-30, so that layers of zeros have finite values.

Weights: folded.
"""

import math

import numpy as np

from baselines.core.measure import Need, measure
from baselines.core.sample import Array
from baselines.core.subject import Subject
from baselines.norm.terms import Terms, log_prod, log_sum_of_ratios, norm_measure, sum_of_ratios


@norm_measure()
def l2_norm(terms: Terms) -> float:
    """Euclidean norm of the kernels.

    Formula: |w|_2, w all kernels. Range: [0, inf). Source: Dziugaite et al. 2020, arXiv 2010.11924.
    """
    return math.sqrt(terms.fro.sum())


@norm_measure()
def param_norm(terms: Terms) -> float:
    """Sum over layers of the squared Frobenius norms.

    Formula: sum_i |W_i|_F^2, W_i the kernels. Range: [0, inf). Source: Jiang et al. 2019, arXiv 1912.02178, eq. 42.
    Same order as: l2_norm.
    """
    return float(terms.fro.sum())


@norm_measure()
def log_prod_of_fro(terms: Terms) -> float:
    """Logarithm of the product of the squared Frobenius norms.

    Formula: sum_i ln |W_i|_F^2, W_i the kernels. Source: Jiang et al. 2019, arXiv 1912.02178, eq. 37.
    """
    return log_prod(terms.fro)


@norm_measure()
def log_sum_of_fro(terms: Terms) -> float:
    """Logarithm of d times the geometric mean of the squared Frobenius norms.

    Formula: ln d + (sum_i ln |W_i|_F^2) / d, d kernels W_i. Source: Jiang et al. 2019, arXiv 1912.02178, eq. 39.
    """
    return math.log(terms.depth) + log_prod(terms.fro) / terms.depth


@norm_measure(spectral=True)
def log_prod_of_spec(terms: Terms) -> float:
    """Logarithm of the product of the squared spectral norms.

    Formula: sum_i ln S_i, S_i squared spectral norms of the layers. Source: Jiang et al. 2019, arXiv 1912.02178, eq.
    32.
    """
    return log_prod(terms.spec)


@norm_measure(spectral=True)
def log_sum_of_spec(terms: Terms) -> float:
    """Logarithm of d times the geometric mean of the squared spectral norms.

    Formula: ln d + (sum_i ln S_i) / d, S_i squared spectral norms of d layers. Source: Jiang et al. 2019, arXiv
    1912.02178, eq. 35.
    """
    return math.log(terms.depth) + log_prod(terms.spec) / terms.depth


@norm_measure(spectral=True)
def fro_over_spec(terms: Terms) -> float:
    """Sum over layers of the squared Frobenius norm divided by the squared spectral norm.

    Formula: sum_i F_i / S_i, squared Frobenius norms F_i, squared spectral norms S_i. Range: [0, inf). Source: Jiang et
    al. 2019, arXiv 1912.02178, eq. 33.

    A layer of zeros contributes 0. If the spectral norms are those of kernels as matrices, the ratios are stable ranks.
    If they are those of convolutions, a ratio may be less than 1, since the Frobenius norm is still the kernel's, as in
    the code of Dziugaite et al. 2020.
    """
    return sum_of_ratios(terms.fro, terms.spec)


@norm_measure(Need.INITIAL_WEIGHTS)
def l2_dist(terms: Terms) -> float:
    """Euclidean distance of the kernels from their initial values.

    Formula: |w - w0|_2, w all kernels, w0 their initial values. Range: [0, inf). Source: Dziugaite et al. 2020, arXiv
    2010.11924.
    """
    return math.sqrt(terms.fro_change.sum())


@norm_measure(Need.INITIAL_WEIGHTS)
def fro_dist(terms: Terms) -> float:
    """Sum over layers of the squared Frobenius distances from the initial kernels.

    Formula: sum_i |W_i - W0_i|_F^2, W_i the kernels, W0_i their initial values. Range: [0, inf). Source: Jiang et al.
    2019, arXiv 1912.02178, eq. 40. Same order as: l2_dist.
    """
    return float(terms.fro_change.sum())


@norm_measure(Need.INITIAL_WEIGHTS, spectral=True)
def dist_spec_init(terms: Terms) -> float:
    """Sum over layers of the squared spectral norms of the kernels' changes by training.

    Formula: sum_i |W_i - W0_i|_2^2, W_i the kernels, W0_i their initial values. Range: [0, inf). Source: Jiang et al.
    2019, arXiv 1912.02178, eq. 41.
    """
    return float(terms.spec_change.sum())


@measure(Need.INITIAL_WEIGHTS)
def distance_from_init(subject: Subject) -> float:
    """Squared Euclidean distance of all weights from their initial values.

    Formula: sum over all arrays a of |a - a0|^2, a0 the initial value. Range: [0, inf). Source: PGDL starting kit
    (Jiang et al. 2020, arXiv 2012.07976). Weights: as trained.

    As in the starting kit, the sum includes every array of `get_weights()`, even biases and the averages of batch
    normalization.
    """
    pairs = zip(subject.weights, subject.initial_weights, strict=True)
    return sum(float(np.sum(np.square(final - initial, dtype=np.float64))) for final, initial in pairs)


@norm_measure(normalizable=False)
def l1_max_norm(terms: Terms) -> float:
    """Logarithm of the product of the layers' L(1, inf) norms.

    Formula: sum_i ln max_j |w_ij|_1, w_ij the weights of output unit j in layer i. Source: Neyshabur et al. 2019, arXiv
    1805.12076, and its code.
    """
    return _log_prod([np.abs(layer.matrices).sum(axis=1).max() for layer in terms.layers])


@norm_measure(normalizable=False)
def l3_15_norm(terms: Terms) -> float:
    """Logarithm of the product of the layers' L(3, 1.5) norms.

    Formula: sum_i ln (sum_j |w_ij|_3^1.5)^(2/3), w_ij the weights of output unit j in layer i. Source: Neyshabur et al.
    2019, arXiv 1805.12076, and its code.
    """
    cubes = [(np.abs(layer.matrices) ** 3).sum(axis=1) for layer in terms.layers]
    return _log_prod([np.sqrt(of_layer).sum() ** (2 / 3) for of_layer in cubes])


@norm_measure(normalizable=False)
def trace_norm_prod(terms: Terms) -> float:
    """Logarithm of the product of the layers' trace norms.

    Formula: sum_i ln(sum of the singular values of kernel W_i). Source: Neyshabur et al. 2019, arXiv 1805.12076, and
    its code.
    """
    return _log_prod([values.sum() for values in terms.singular_values])


def _log_prod(norms: list[float]) -> float:
    return log_prod(np.square(norms)) / 2


@norm_measure(Need.INITIAL_WEIGHTS, spectral=True, normalizable=False)
def spectral_complexity_2_1(terms: Terms) -> float:
    """Logarithm of the spectral complexity, with distances from the initial weights.

    Formula: ln(prod_i |W_i|_2 (sum_i (|(W_i - W0_i)^T|_{2,1} / |W_i|_2)^(2/3))^(3/2)), W_i the kernels, initially W0_i.
    Source: Bartlett et al. 2017, arXiv 1706.08498, eq. 1.2.

    The (2, 1) norm is the sum over output units of the 2-norm of their weights. If the sum over layers is below 1e-30,
    the sum counts as 1e-30.
    """
    distances = np.array([np.linalg.norm(layer.matrices, axis=1).sum() for layer in terms.changes])
    ratios = np.cbrt(distances**2), np.cbrt(terms.spec)
    return log_prod(terms.spec) / 2 + 1.5 * log_sum_of_ratios(*ratios)


@norm_measure(normalizable=False)
def effective_rank_sum(terms: Terms) -> float:
    """Sum over layers of the effective rank of the kernel.

    Formula: sum_i exp(-sum_j p_ij ln p_ij), p_ij the singular values of kernel W_i, divided by their sum. Range: [0,
    inf); 0 for zeros. Source: Roy and Vetterli 2007.
    """
    return sum(_effective_rank(values) for values in terms.singular_values)


def _effective_rank(values: Array) -> float:
    if not values.any():
        return 0.0
    shares = values[values > 0] / values.sum()
    return math.exp(-float(np.sum(shares * np.log(shares))))
