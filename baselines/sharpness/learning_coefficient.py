"""The local learning coefficient: how fast the volume of good weights around the trained ones vanishes."""

import math
from typing import Any

from baselines.core.lazy import tf
from baselines.core.measure import MeasureUnavailable, Need, measure
from baselines.core.subject import Subject
from baselines.network import Network
from baselines.network.per_example import cross_entropies
from baselines.sharpness.scales import weight_space
from baselines.sharpness.weight_space import gradient, place, repeat


@measure(
    meaning="effective number of parameters by the loss of weights drawn around the trained ones, halved",
    formula="n beta (E_w L(w) - L(w*)), density of w ~ exp(-n beta L(w) - gamma |w - w*|^2 / 2), beta = 1 / ln n",
    source="Lau et al. 2023, arXiv 2308.12108, by their stochastic gradient Langevin dynamics",
    cost="200 B of 64 examples",
    needs={Need.DATA, Need.LABELS, Need.GRADIENTS},
)
def local_learning_coefficient(
    subject: Subject, *, step_size: float = 1e-4, gamma: float = 100.0, n_chains: int = 2, n_burn_in: int = 50,
    n_draws: int = 50, batch: int = 64, n_samples: int = 2048, seed: int = 0,
) -> float:  # fmt: skip
    """Estimate of lambda(w*), half the number of weights where the loss is regular. Range: (-inf, inf).

    On a quadratic loss of eigenvalues h_i it is 1/2 sum_i n beta h_i / (n beta h_i + gamma) if chains are long and
    steps small. The defaults are a compromise: a weight on which the loss does not depend needs 2 / (step_size gamma)
    = 200 steps to forget where it began, longer than these chains burn in, and n beta h_i step_size / 2 must stay well
    below 2, or the chain leaves the minimum. The paper chooses step and gamma anew for each experiment; an example
    of its authors' library takes 0.0004, 100, and three chains of 100 draws. So the default ranks networks by a value
    that is not converged. It is negative where the trained weights are no minimum, as the chain finds better ones.

    Losses of a batch are compared with its own loss at the trained weights. Kernels and biases move. Batch
    normalization is folded, so that units of weights differ from those of training.

    Args:
        subject: the network and its training data.
        step_size: epsilon; a step is -epsilon / 2 times the gradient of the density's exponent, with noise of
            variance epsilon.
        gamma: pull toward the trained weights.
        n_chains: chains, one after the other.
        n_burn_in: steps of a chain that do not count.
        n_draws: steps that do.
        batch: examples of a step, drawn with replacement; all of them where there are no more.
        n_samples: training examples, n.
        seed: draws examples, batches and noise.

    Raises:
        MeasureUnavailable: a chain ran away, the step being too large for this network.
    """
    space = weight_space(subject, n_samples, seed)
    n = len(space.data[1])
    temperature = n / math.log(max(n, 3))
    with space.network.restoring():
        rise = space.run(
            _mean_rise, space.trained, step_size, gamma, temperature, n_chains, n_burn_in, n_draws, min(batch, n), seed
        )
    value = temperature * float(rise)
    if not math.isfinite(value):
        raise MeasureUnavailable(f"the chain ran away with steps of {step_size:g}: try a smaller step_size")
    return value


def _mean_rise(
    network: Network, trained: Any, step_size: Any, gamma: Any, temperature: Any, n_chains: Any,
    n_burn_in: Any, n_draws: Any, batch: Any, seed: Any, images: Any, labels: Any,
) -> Any:  # fmt: skip
    """Mean rise of the loss above that of the same examples at the trained weights, over the draws of all chains."""
    n, n_steps = tf.shape(labels)[0], n_burn_in + n_draws
    before = _losses(network, images, labels)
    size = tf.cast(batch, tf.float32)

    def move(i: Any, point: Any, total: Any) -> tuple[Any, Any]:
        place(network, point)
        drawn = tf.random.stateless_uniform([batch], [seed, 2 * i], 0, n, tf.int32)
        some = tf.where(batch == n, tf.range(batch), drawn)
        loss, slope = gradient(network, tf.gather(images, some), tf.gather(labels, some))
        rise = (loss - tf.reduce_sum(tf.gather(before, some))) / size
        drift = temperature * slope / size + gamma * (point - trained)
        noise = tf.random.stateless_normal(trained.shape, [seed, 2 * i + 1])
        is_drawn = i % n_steps >= n_burn_in
        return point - step_size / 2 * drift + tf.sqrt(step_size) * noise, total + tf.where(is_drawn, rise, 0.0)

    def chain(number: Any, total: Any) -> tuple[Any]:
        return (repeat(n_steps, lambda i, *state: move(number * n_steps + i, *state), trained, total)[1],)

    return repeat(n_chains, chain, 0.0)[0] / tf.cast(n_chains * n_draws, tf.float32)


def _losses(network: Network, images: Any, labels: Any) -> Any:
    """Cross-entropies (examples,) where the network is now."""
    size = network.batch_size

    def add(i: Any, found: Any) -> tuple[Any]:
        some = slice(i * size, (i + 1) * size)
        losses = cross_entropies(network.logits(images[some]), labels[some])
        places = i * size + tf.range(tf.size(losses))
        return (tf.tensor_scatter_nd_update(found, places[:, None], losses),)

    return repeat(-(-tf.shape(labels)[0] // size), add, tf.zeros(tf.shape(labels)))[0]
