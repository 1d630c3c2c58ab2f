"""Curvature of the training loss at the trained weights, which are all that training moved.

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

    Formula: Tr(H). Source: Yao et al. 2020, arXiv 1912.07145; where it is not piecewise linear by Hutchinson's probes,
    1990. Work: min(kappa, 20) B; not piecewise linear: 20 x 3 B.

    Trace of the Hessian of the mean cross-entropy in all parameters. As in PyHessian, scales and shifts of
    normalization are parameters beside kernels and biases, and its averages stay as they are. The kinks of ReLUs add
    nothing. So the logits of a network of ReLUs, pooling, sums and the like are linear in each single weight, and the
    trace is that of the Fisher matrix of the network's own probabilities, as for `tic_trace`. The trace of others is
    the mean of v' H v over random signs v.

    Args:
        n_probes: random signs; for a piecewise linear network those by which its classes are combined: with as many
            classes or fewer it is exact.
    """
    if is_piecewise_linear(subject.seen(folded=folded)):
        with contextlib.suppress(MeasureUnavailable):  # layers whose gradients cannot be taken apart
            return float(fisher_diagonal(subject, n_samples, n_probes, seed, folded=folded).sum())
    return _trace_by_probes(weight_space(subject, n_samples, seed, folded=folded), n_probes, seed)


def _trace_by_probes(space: WeightSpace, n_probes: int, seed: int) -> float:
    """Mean over signs v of v' H v."""
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

    Formula: lambda_max(H). Source: Keskar et al. 2017, arXiv 1609.04836; Yao et al. 2020, arXiv 1912.07145; by Lanczos'
    method. Work: up to 50 x 3 B.

    Largest eigenvalue of the Hessian of the mean cross-entropy. The weights are those of `hessian_trace`.

    Args:
        n_steps: products with the Hessian; fewer if the value stays. After as many, power iteration is never closer,
            and may follow a negative eigenvalue.
    """
    space = weight_space(subject, n_samples, seed, folded=folded)
    begin = stream("start of the Hessian's eigenvector", seed).normal(size=len(space))
    return largest_eigenvalue(space.hessian_product, begin, n_steps)


#: Vectors of float32 that Lanczos' iteration needs besides its directions.
VECTORS = 24


@measure(Need.LABELS, Need.GRADIENTS)
def effective_dimensionality(
    subject: Subject, *, alpha: float = 1.0, n_steps: int = 25, n_samples: int = 2048, seed: int = 0
) -> float:
    """Number of directions in which the training loss is curved more than alpha.

    Formula: sum over eigenvalues l_i > 0 of the Hessian of the mean cross-entropy of l_i / (l_i + alpha). Range: [0,
    n_steps]. Source: Maddox, Benton and Wilson 2020, arXiv 2003.02139; the leading eigenvalues by Lanczos' method.
    Work: 25 x 3 B. Weights: as trained. Draws: by input. Refused: `n_steps` vectors of all weights would need more
    memory than is left.

    Effective dimensionality of the Hessian in the kernels, N_eff(H, alpha). As in the authors' code biases stay where
    they are, and so do scales and shifts of normalization, which is not folded. The loss is a mean and not a sum,
    `alpha` is 1, and the eigenvalues are those after some steps of Lanczos' iteration, the positive ones of which
    count. Those far above alpha are right by then; the others are still missed, so that values grow with the steps. The
    authors take 100 steps: on the shipped tasks these find 1.7 times as much, in about the same order (Kendall's tau
    0.86 to 0.89). Of three networks of 1,690 weights 25 steps find 45 to 50 % of the whole Hessian's value, 100 steps
    67 to 71 %; as many steps as weights find all of it. These figures were taken with biases among the weights.

    Args:
        alpha: the prior's precision over the number of examples, for a posterior of Bayes.
        n_steps: products with the Hessian.
    """
    values = leading_eigenvalues(subject, n_steps, n_samples, seed)
    positive = values[values > 0]
    return float(np.sum(positive / (positive + alpha)))


@shared
def leading_eigenvalues(subject: Subject, n_steps: int, n_samples: int, seed: int) -> Array:
    """Eigenvalues of the Hessian of the mean cross-entropy after `n_steps` of Lanczos' iteration."""
    space = WeightSpace(subject.network, subject.sample(n_samples, seed), are_kernels=True)
    what = f"{n_steps} vectors of {len(space):,} weights"
    require_memory(4 * (n_steps + VECTORS) * len(space), what, "try a smaller n_steps, or more memory")
    return ritz_values(space.hessian_product, len(space), n_steps, stream("start of Lanczos' iteration", seed))
