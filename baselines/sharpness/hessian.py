"""Curvature of the training loss at the trained weights, with respect to all trained parameters.

Weights: as trained.
"""

import contextlib

import numpy as np

from baselines.core.eigenvalues import largest_eigenvalue, ritz_values
from baselines.core.fisher import fisher_diagonal
from baselines.core.measure import MeasureUnavailable, Need, measure
from baselines.core.memory import require_memory
from baselines.core.sample import Array
from baselines.core.streams import stream
from baselines.core.subject import Subject, shared
from baselines.network.hidden import is_piecewise_linear
from baselines.sharpness.scales import weight_space
from baselines.sharpness.weight_space import WeightSpace


@measure(Need.LABELS, Need.GRADIENTS)
def hessian_trace(
    subject: Subject, *, n_probes: int = 20, folded: bool = False, n_samples: int = 2048, seed: int = 0
) -> float:
    """Trace of the Hessian of the training loss.

    Formula: Tr(H), H the Hessian of the mean cross-entropy with kappa classes. Source: Yao et al. 2020, arXiv
    1912.07145, and Hutchinson 1990 for networks that are not piecewise linear. Work: min(kappa, 20) backward passes;
    not piecewise linear: 20 x 3 backward passes. Draws: depend on the order of examples if kappa > n_probes, and on the
    order of input dimensions if the network is not piecewise linear.

    As in PyHessian, parameters are kernels, biases, and scales and shifts of normalization, whose moving averages are
    fixed. The logits of a piecewise linear network (ReLUs, pooling, sums) are linear in each single weight, except at
    kinks, which contribute nothing. So Tr(H) equals the trace of the Fisher matrix under the predicted probabilities,
    as for `tic_trace`. For other networks, the value is the mean of v' H v over random signs v.

    Args:
        n_probes: vectors of random signs. For a piecewise linear network they combine the classes, and the trace is
            exact if there are at most `n_probes` classes.
    """
    if is_piecewise_linear(subject.seen(folded=folded)):
        with contextlib.suppress(MeasureUnavailable):  # gradients of a layer cannot be separated
            return float(fisher_diagonal(subject, n_samples, n_probes, seed, folded=folded).sum())
    return _trace_by_probes(weight_space(subject, n_samples, seed, folded=folded), n_probes, seed)


def _trace_by_probes(space: WeightSpace, n_probes: int, seed: int) -> float:
    rng = stream("probes of the Hessian", seed)
    found = []
    for _ in range(n_probes):
        probe = rng.choice(np.array([-1, 1], np.float32), len(space))
        found.append(float(probe @ space.hessian_product(probe)))
    return float(np.mean(found))


@measure(Need.LABELS, Need.GRADIENTS)
def hessian_top_eigenvalue(
    subject: Subject, *, n_steps: int = 50, folded: bool = False, n_samples: int = 2048, seed: int = 0
) -> float:
    """Largest eigenvalue of the Hessian of the training loss.

    Formula: lambda_max(H), H the Hessian of the mean cross-entropy in the parameters of `hessian_trace`. Source: Keskar
    et al. 2017, arXiv 1609.04836; Yao et al. 2020, arXiv 1912.07145; by Lanczos' method. Work: up to 50 x 3 backward
    passes.

    Args:
        n_steps: largest number of products with the Hessian. With as many products, power iteration never comes closer
            to the eigenvalue, and may converge to a negative one.
    """
    space = weight_space(subject, n_samples, seed, folded=folded)
    begin = stream("start of the Hessian's eigenvector", seed).normal(size=len(space))
    return largest_eigenvalue(space.hessian_product, begin, n_steps)


#: Number of float32 vectors that Lanczos' iteration needs in addition to the basis.
VECTORS = 24


@measure(Need.LABELS, Need.GRADIENTS)
def effective_dimensionality(
    subject: Subject, *, alpha: float = 1.0, n_steps: int = 25, n_samples: int = 2048, seed: int = 0
) -> float:
    """Effective dimensionality: soft count of the directions in which the training loss has a curvature above alpha.

    Formula: sum_i l_i / (l_i + alpha), l_i > 0 eigenvalues of the Hessian of the mean cross-entropy in all kernels.
    Range: [0, n_steps]. Source: Maddox, Benton and Wilson 2020, arXiv 2003.02139; the leading eigenvalues by Lanczos'
    method. Work: 25 x 3 backward passes. Weights: as trained. Draws: depend on the order of input dimensions. Refused:
    `n_steps` vectors of all weights would need more memory than is left.

    The authors call it N_eff(H, alpha). As in their code, biases, and scales and shifts of normalization, are fixed,
    `alpha` is 1, and the eigenvalues come from some steps of Lanczos' iteration. Eigenvalues far above alpha have
    converged, but smaller eigenvalues are missed, so the value grows with the steps. The authors' 100 steps yield 1.7
    times the value of 25 steps on the shipped tasks, in about the same order (Kendall's tau 0.86 to 0.89). On three
    networks of 1,690 weights, 25 steps yield 45 to 50 % of the value of the whole Hessian, and 100 steps 67 to 71 %;
    for these figures, biases were not fixed.

    Args:
        alpha: precision of the prior divided by the number of examples, in a Bayesian interpretation.
        n_steps: products with the Hessian.
    """
    values = leading_eigenvalues(subject, n_steps, n_samples, seed)
    positive = values[values > 0]
    return float(np.sum(positive / (positive + alpha)))


@shared
def leading_eigenvalues(subject: Subject, n_steps: int, n_samples: int, seed: int) -> Array:
    """Return eigenvalues (n_steps,) of the Hessian with respect to the kernels, by Lanczos' iteration."""
    space = WeightSpace(subject.network, subject.sample(n_samples, seed), are_kernels=True)
    what = f"{n_steps} vectors of {len(space):,} weights"
    require_memory(4 * (n_steps + VECTORS) * len(space), what, "try a smaller n_steps, or more memory")
    return ritz_values(space.hessian_product, len(space), n_steps, stream("start of Lanczos' iteration", seed))
