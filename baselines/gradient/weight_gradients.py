"""Gradients of the loss at the end of training, with respect to weights and to inputs.

Gradients of fitted networks are tiny and differ by orders of magnitude, so there are `log_` forms.
"""

import functools
import math
from typing import Any

import numpy as np

from baselines.core.lazy import tf
from baselines.core.measure import Need, measure
from baselines.core.outputs import logits
from baselines.core.sample import Array
from baselines.core.streams import stream
from baselines.core.subject import Subject, shared
from baselines.network import joined
from baselines.network.losses import relative_slopes
from baselines.network.per_example import PASSES, per_example


def weight_gradients(
    subject: Subject, n_samples: int, seed: int, label: str = "true", *, folded: bool = False
) -> tuple[Array, Array, float]:
    """Return |g_i|^2 (n,), <w, g_i> (n,) and |mean g_i|^2, g_i the gradient of example i's loss in the weights w.

    `relative_gradients` explains `label` and `folded`.
    """
    squares, products, mean_square, unit = relative_gradients(subject, n_samples, seed, label, folded=folded)
    size = math.exp(unit)
    return size**2 * squares, size * products, size**2 * mean_square


@shared
def relative_gradients(
    subject: Subject, n_samples: int, seed: int, label: str = "true", *, folded: bool = False
) -> tuple[Array, Array, float, float]:
    """Return the results of `weight_gradients` for gradients divided by e^s, and s; the division prevents underflow.

    Labels are the true labels (`label` "true") or drawn from the predicted probabilities ("model"). If `folded`,
    weights are kernels and biases, with normalization folded.
    """
    network, sample = subject.seen(folded=folded), subject.sample(n_samples, seed)
    labels = sample.labels if label == "true" else _drawn(subject, n_samples, seed, label)
    run, found, units = functools.partial(per_example, network), [], []
    total, unit = np.zeros(1), -math.inf  # float64
    size = network.batch_size_of(PASSES)
    for *of_examples, summed, other in network.in_batches("per example", run, [sample.inputs, labels], size=size):
        found.append(of_examples)
        units.append(np.full(len(of_examples[0]), other, np.float64))
        before, now, unit = in_one_unit(unit, float(other))
        total = added(total, before, summed, now)
    squares, products = (part.astype(np.float64) for part in joined(found))
    sizes = np.exp(np.concatenate(units) - unit)
    return sizes**2 * squares, sizes * products, float(total @ total) / len(sample) ** 2, unit


def in_one_unit(first: float, second: float) -> tuple[float, float, float]:
    """Return (factor, factor, s): the factors convert the units e^first and e^second to e^s, the larger unit."""
    unit = max(first, second)
    return math.exp(first - unit), math.exp(second - unit), unit


def added(total: Array, before: float, part: Array, now: float) -> Array:
    """Return before * total + now * part, float64, in place of `total`. If the shapes differ, return now * part."""
    if total.shape != part.shape:
        return np.multiply(part, now, dtype=np.float64)
    if before != 1:
        total *= before
    total += part if now == 1 else now * part
    return total


def _drawn(subject: Subject, n_samples: int, seed: int, label: str) -> Array:
    if label != "model":
        raise ValueError(f"label: expected true or model, found {label}")
    _, answers = logits(subject, n_samples, seed)
    noise = stream("labels of the Fisher matrix", seed).gumbel(size=answers.shape)
    drawn: Array = (answers + noise).argmax(axis=1).astype(np.int32)
    return drawn


@measure(Need.LABELS, Need.GRADIENTS, log=True)
def gradient_norm(subject: Subject, *, n_samples: int = 2048, seed: int = 0) -> float:
    """Squared norm of the gradient of the mean training loss.

    Formula: |E g_i|^2, g_i the gradient of example i's cross-entropy in the weights. Range: [0, inf). Source: Jiang et
    al. 2019, arXiv 1912.02178, appendix C. Weights: as trained.
    """
    return weight_gradients(subject, n_samples, seed)[2]


@measure(Need.LABELS, Need.GRADIENTS, log=True)
def gradient_noise_final(subject: Subject, *, n_samples: int = 2048, seed: int = 0) -> float:
    """Variance over examples of the loss' gradient, summed over weights.

    Formula: E |g_i - E g|^2, g_i the gradient of example i's cross-entropy in the weights. Range: [0, inf). Source:
    Jiang et al. 2019, arXiv 1912.02178, eq. 66. Weights: as trained.
    """
    squares, _, mean_square = weight_gradients(subject, n_samples, seed)
    return max(float(squares.mean()) - mean_square, 0.0)  # negative only by rounding


@measure(Need.LABELS, Need.GRADIENTS, log=True)
def fisher_rao_norm(subject: Subject, *, n_samples: int = 2048, seed: int = 0) -> float:
    """Fisher-Rao norm of the weights: norm in the metric of the empirical Fisher matrix.

    Formula: sqrt(E <w, g_i>^2), g_i the gradient of example i's cross-entropy in the weights w. Range: [0, inf).
    Source: Liang et al. 2019, arXiv 1711.01530. Weights: as trained.
    """
    return math.sqrt(float(np.square(weight_gradients(subject, n_samples, seed)[1]).mean()))


@measure(Need.LABELS, Need.GRADIENTS, log=True)
def fisher_trace(
    subject: Subject, *, n_samples: int = 2048, label: str = "true", folded: bool = False, seed: int = 0
) -> float:
    """Trace of the empirical Fisher matrix: mean squared norm of the examples' gradients.

    Formula: E |g_i|^2, g_i the gradient of example i's cross-entropy in the weights. Range: [0, inf). Source: Liang et
    al. 2019, arXiv 1711.01530. Weights: as trained.

    Args:
        label: "true", or "model" for labels drawn from the predicted probabilities.
    """
    return float(weight_gradients(subject, n_samples, seed, label, folded=folded)[0].mean())


@shared
def input_gradients(subject: Subject, n_samples: int, seed: int) -> Array:
    """Return the norms (n,) of the gradients of the examples' cross-entropies with respect to their inputs."""
    network, sample = subject.network, subject.sample(n_samples, seed)

    def norms(images: Any, labels: Any) -> tuple[Any, Any]:
        with tf.GradientTape() as tape:
            tape.watch(images)
            answers = network.logits(images)
        slopes, unit = relative_slopes(answers, labels)
        rows = tape.gradient(answers, images, output_gradients=slopes)
        return tf.norm(tf.reshape(rows, (tf.shape(rows)[0], -1)), axis=1), unit

    parts = network.in_batches("input gradients", norms, [sample.inputs, sample.labels])
    found: Array = np.concatenate([math.exp(unit) * lengths.astype(np.float64) for lengths, unit in parts])
    return found


@measure(Need.LABELS, Need.GRADIENTS, Need.QUANTITIES, log=True)
def input_gradient_norm(subject: Subject, *, n_samples: int = 2048, seed: int = 0) -> float:
    """Mean norm of the loss' gradient with respect to the input.

    Formula: E |d l / d x|_2, l the cross-entropy, x the input. Range: [0, inf). Source: Novak et al. 2018, arXiv
    1802.08760.
    """
    return float(input_gradients(subject, n_samples, seed).mean())


@measure(Need.QUANTITIES)
def sensitivity_output_change(
    subject: Subject, *, relative_noise: float = 0.01, n_samples: int = 10_000, seed: int = 0
) -> float:
    """Mean squared change of the logits under noise on the input, relative to their mean square.

    Formula: E |f(x + eta) - f(x)|^2 / E |f|^2, eta ~ N(0, tau^2 I), f the logits. Range: [0, inf); 0 if all logits are
    0. Source: Forouzesh et al. 2021, arXiv 2010.02074. Work: 2 forward passes. Draws: depend on the order of input
    dimensions and of examples.

    Args:
        relative_noise: tau divided by the standard deviation of the inputs.
    """
    sample, answers = logits(subject, n_samples, seed)
    noise = stream("noise on inputs", seed).standard_normal(sample.inputs.shape, np.float32)
    moved = subject.network.outputs(sample.inputs + np.float32(relative_noise * sample.inputs.std()) * noise)[0]
    power = float(np.square(answers, dtype=np.float64).mean())
    return float(np.square(moved - answers, dtype=np.float64).mean()) / power if power else 0.0
