"""The local learning coefficient: how fast the volume of low-loss weights around the trained weights vanishes."""

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
    """Local learning coefficient: half the effective number of parameters, from losses near the trained weights.

    Formula: n beta (E_w L(w) - L(w*)), density of w ~ exp(-n beta L(w) - gamma |w - w*|^2 / 2), beta = 1 / ln n, w* the
    trained weights, L the mean cross-entropy of n examples. Source: Lau et al. 2023, arXiv 2308.12108, by their
    stochastic gradient Langevin dynamics. Work: 200 backward passes over 64 examples. Weights: as trained. Draws:
    depend on the order of input dimensions and of examples. Refused: a chain diverged because of too large steps.

    For a regular loss the coefficient is half the number of weights. For a quadratic loss with eigenvalues h_i, long
    chains and small steps, the value is 1/2 sum_i n beta h_i / (n beta h_i + gamma). The value is negative if the
    trained weights are no minimum and the chain finds smaller losses.

    The defaults are a compromise, and the value is not converged. A weight without effect on the loss forgets its start
    after 2 / (step_size gamma) = 200 steps, longer than the burn-in. On the other hand, n beta h_i step_size / 2 must
    stay well below 2, or the chain leaves the minimum. Lau et al. choose step and gamma for each experiment; an example
    of their library takes 0.0004, 100, and three chains of 100 draws.

    The loss of a batch is compared with the loss of the same batch at the trained weights.

    Args:
        step_size: epsilon; a step is epsilon / 2 times the gradient of the log density, plus noise of variance epsilon.
        gamma: strength of the localization at the trained weights.
        n_chains: number of chains.
        n_burn_in: steps at the beginning of a chain that are left out of the average.
        n_draws: steps of a chain that are averaged.
        batch: examples of a step, drawn with replacement; a smaller sample is taken whole.
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
