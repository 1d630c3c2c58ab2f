"""Curvature of the training loss at the trained weights, which are all that training moved.

Weights: as trained.
"""

import contextlib

import numpy as np

from baselines.core.eigenvalues import largest_eigenvalue
from baselines.core.fisher import fisher_diagonal
from baselines.core.measure import MeasureUnavailable, Need, measure
from baselines.core.streams import stream
from baselines.core.subject import Subject
from baselines.network.linearity import is_piecewise_linear
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
