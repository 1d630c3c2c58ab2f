"""The local learning coefficient: how fast the volume of good weights around the trained ones vanishes."""

import math

import numpy as np

from baselines.core.measure import MeasureUnavailable, Need, measure
from baselines.core.outputs import cross_entropies, trained_logits
from baselines.core.streams import stream
from baselines.core.subject import Subject
from baselines.sharpness.scales import weight_space


@measure(Need.LABELS, Need.GRADIENTS)
def local_learning_coefficient(
    subject: Subject, *, step_size: float = 1e-4, gamma: float = 100.0, n_chains: int = 2, n_burn_in: int = 50,
    n_draws: int = 50, batch: int = 64, n_samples: int = 2048, seed: int = 0,
) -> float:  # fmt: skip
    """Effective number of parameters by the loss of weights drawn around the trained ones, halved.

    Formula: n beta (E_w L(w) - L(w*)), density of w ~ exp(-n beta L(w) - gamma |w - w*|^2 / 2), beta = 1 / ln n.
    Source: Lau et al. 2023, arXiv 2308.12108, by their stochastic gradient Langevin dynamics. Work: 200 B of 64
    examples. Weights: as trained. Draws: by input. Refused: a chain ran away, the step being too large for this
    network.

    Estimate of lambda(w*), half the number of weights where the loss is regular. On a quadratic loss of eigenvalues h_i
    it is 1/2 sum_i n beta h_i / (n beta h_i + gamma) if chains are long and steps small. The defaults are a compromise:
    a weight on which the loss does not depend needs 2 / (step_size gamma) = 200 steps to forget where it began, longer
    than these chains burn in, and n beta h_i step_size / 2 must stay well below 2, or the chain leaves the minimum. The
    paper chooses step and gamma anew for each experiment; an example of its authors' library takes 0.0004, 100, and
    three chains of 100 draws. So the default ranks networks by a value that is not converged. It is negative where the
    trained weights are no minimum, as the chain finds better ones.

    Losses of a batch are compared with its own loss at the trained weights. All that training moved moves, scales and
    shifts of normalization among it.

    Args:
        step_size: epsilon; a step is -epsilon / 2 times the gradient of the density's exponent, with noise of variance
            epsilon.
        gamma: pull toward the trained weights.
        n_chains: number of chains, run one after the other.
        n_burn_in: steps of a chain that do not count.
        n_draws: steps that do.
        batch: examples of a step, drawn with replacement; all of them where there are no more.
    """
    space = weight_space(subject, n_samples, seed, folded=False)
    n, trained = len(space.sample), space.trained
    temperature, batch, rises = n / math.log(max(n, 3)), min(batch, n), []
    space.network.require_room(batch, "try a smaller batch")
    before = cross_entropies(trained_logits(subject, n_samples, seed), space.sample.labels)
    with space.network.restoring():
        for chain in range(n_chains):
            rng, point = stream("Langevin chain", seed, chain), trained
            for step in range(n_burn_in + n_draws):
                some = rng.integers(n, size=batch) if batch < n else np.arange(n)
                loss, slope = space.batch_gradient(point, some)
                if step >= n_burn_in:
                    rises.append(loss / batch - before[some].mean())
                drift = temperature / batch * slope + gamma * (point - trained)
                noise = rng.standard_normal(len(trained), np.float32)
                point = point - step_size / 2 * drift + math.sqrt(step_size) * noise
    value = temperature * float(np.mean(rises))
    if not math.isfinite(value):
        raise MeasureUnavailable(f"the chain ran away with steps of {step_size:g}: try a smaller step_size")
    return value
