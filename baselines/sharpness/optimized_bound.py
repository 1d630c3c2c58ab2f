"""A PAC-Bayes bound with an optimized variance of the noise for each weight."""

import math

import numpy as np

from baselines.core import outputs
from baselines.core.kl_bound import log_bound
from baselines.core.measure import MeasureUnavailable, Need, measure
from baselines.core.sample import Array
from baselines.core.streams import stream
from baselines.core.subject import Subject
from baselines.sharpness.pacbayes import moved
from baselines.sharpness.scales import weight_space
from baselines.sharpness.weight_space import WeightSpace

#: c and b of Dziugaite and Roy: the prior's variance lambda is LARGEST exp(-j / PRECISION) for a j = 1, 2, ...
LARGEST, PRECISION = 0.1, 100.0

#: delta, the probability with which the bound may fail.
CONFIDENCE = 0.025

#: Initial standard deviation, divided by the magnitude of the weight, which counts as at least this fraction of the
#: weights' root mean square.
BEGIN = 0.1

# Constants of Adam
DECAY, DECAY_OF_SQUARES, SMALL = 0.9, 0.99, 1e-12


@measure(Need.LABELS, Need.GRADIENTS, Need.INITIAL_WEIGHTS)
def pacbayes_optimized(
    subject: Subject, *, n_steps: int = 200, batch: int = 64, step_size: float = 0.05, n_draws: int = 10,
    n_samples: int = 1024, seed: int = 0,
) -> float:  # fmt: skip
    """PAC-Bayes bound on the test error, with an optimized variance of the noise for each weight.

    Formula: -ln(1 - p), kl(e || p) = (KL(N(w, diag s) || N(w0, lambda I)) + 2 ln(b ln(c / lambda)) + ln(pi^2 m / (6
    delta))) / (m - 1), p the bound, kl the relative entropy of Bernoulli distributions, e the training error with noise
    of variances s on the weights w, initially w0, lambda the prior's variance, m examples, b = 100, c = 0.1, delta =
    0.025. Range: [0, inf). Source: Dziugaite and Roy 2017, arXiv 1703.11008, and its code, with a fixed mean. Work: 200
    backward passes over 64 examples and 10 forward passes over 1024 examples. Weights: folded. Draws: depend on the
    order of input dimensions and of examples. Refused: there are fewer than two training examples; with noise all
    predictions are wrong.

    Gradient descent on s, with a draw of noise for each step, minimizes the authors' objective: cross-entropy over ln 2
    plus the square root of half the formula's right side. The authors' optimization takes hours. Here w is fixed, since
    moving w would train another network; lambda is optimal at every step; Adam replaces RMSprop; and logarithms of
    deviations change by up to `step_size` per step. This short descent does not converge: on two networks of the
    shipped tasks, five times as many steps reduce the value by 7 %, and other seeds change it by 1 to 2 %.

    For networks with more weights than training examples, the bound p is usually nearly 1, and -ln(1 - p) still tells
    networks apart. e is a mean over draws and examples, without a term for the error of this mean. Weights are kernels
    and biases. The value changes if a factor moves from a layer's weights to the next layer's.

    Args:
        n_steps: steps of the descent.
        batch: examples of a step, drawn with replacement; a smaller sample is taken whole.
        step_size: largest change of the logarithm of a deviation per step.
        n_draws: draws of the noise for the error e.
    """
    space, m = weight_space(subject, n_samples, seed), subject.examples.population
    if m < 2:
        raise MeasureUnavailable("needs two training examples")
    change = moved(subject, include_bias=True)
    batch = min(batch, len(space.sample))
    space.network.require_room(batch, "try a smaller batch")
    distance, rng = float(change @ change), stream("optimized PAC-Bayes bound", seed)
    with space.network.restoring():
        logarithms = _optimized(space, distance, m, n_steps, batch, step_size, rng)
        error = _error(space, np.exp(logarithms), n_draws, rng)
    return log_bound(error, complexity(logarithms, distance, m))


def complexity(logarithms: Array, distance: float, m: int) -> float:
    """Return the right side of the formula of `pacbayes_optimized`, in nats, for the best lambda.

    `logarithms` (n_weights,) are the logarithms of the noise's standard deviations; `distance` is |w - w0|^2.
    """
    n, variances = len(logarithms), float(np.sum(np.exp(2 * logarithms), dtype=np.float64))
    total, best = float(np.sum(logarithms, dtype=np.float64)), math.inf
    place = PRECISION * math.log(LARGEST / _variance(variances, distance, n))
    for j in (math.floor(place), math.ceil(place)):
        log_lambda = math.log(LARGEST) - max(j, 1) / PRECISION
        divergence = ((variances + distance) / math.exp(log_lambda) - n + n * log_lambda) / 2 - total
        best = min(best, divergence + 2 * math.log(max(j, 1)))
    return (best + math.log(math.pi**2 * m / (6 * CONFIDENCE))) / (m - 1)


def _variance(variances: float, distance: float, n: int) -> float:
    """Return the prior's variance lambda that minimizes the divergence, but at most the largest allowed lambda."""
    return min((variances + distance) / n, LARGEST * math.exp(-1 / PRECISION))


def _optimized(
    space: WeightSpace, distance: float, m: int, n_steps: int, batch: int, step_size: float, rng: np.random.Generator
) -> Array:
    sizes = np.abs(space.trained)
    floor = max(float(np.sqrt(np.mean(np.square(sizes, dtype=np.float64)))), SMALL)
    logarithms: Array = np.log(BEGIN * np.maximum(sizes, floor * BEGIN)).astype(np.float32)
    mean = square = np.zeros_like(logarithms)
    for step in range(1, n_steps + 1):
        deviations = np.exp(logarithms)
        noise = deviations * rng.standard_normal(len(sizes), np.float32)
        some = rng.integers(len(space.sample), size=batch) if batch < len(space.sample) else np.arange(batch)
        _, slope = space.batch_gradient(space.trained + noise, some)
        variances = np.square(deviations)
        prior = _variance(float(np.sum(variances, dtype=np.float64)), distance, len(sizes))
        weight = 1 / (4 * (m - 1) * math.sqrt(complexity(logarithms, distance, m) / 2))
        slope = slope * noise / (batch * math.log(2)) + np.float32(weight) * (variances / np.float32(prior) - 1)
        mean = DECAY * mean + (1 - DECAY) * slope
        square = DECAY_OF_SQUARES * square + (1 - DECAY_OF_SQUARES) * np.square(slope)
        rate = step_size * math.sqrt(1 - DECAY_OF_SQUARES**step) / (1 - DECAY**step)
        logarithms = logarithms - np.float32(rate) * mean / (np.sqrt(square) + np.float32(SMALL))
    return logarithms


def _error(space: WeightSpace, deviations: Array, n_draws: int, rng: np.random.Generator) -> float:
    found = []
    for _ in range(n_draws):
        point = space.trained + deviations * rng.standard_normal(len(deviations), np.float32)
        found.append(1 - outputs.accuracy(space.logits(point), space.sample.labels))
    return float(np.mean(found))
