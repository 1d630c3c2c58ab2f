"""Gradients of the loss at the end of training, with respect to weights and to inputs.

Once the training set is fitted the loss' gradients are tiny, and differ between networks by orders of magnitude: hence
a `log_` form of each. Weights are all that training moved, scales and shifts of normalization among them.
Parameters of most:

n_samples: training examples.
seed: draws the examples.
"""

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from baselines.core.lazy import tf
from baselines.core.measure import Cost, Need, measure
from baselines.core.outputs import logits
from baselines.core.sample import Array
from baselines.core.streams import stream
from baselines.core.subject import Subject, shared
from baselines.network import joined
from baselines.network.losses import relative_slopes
from baselines.network.per_example import PASSES, per_example

_NEEDS = {Need.DATA, Need.LABELS, Need.GRADIENTS}
_JIANG = "Jiang et al. 2019, arXiv 1912.02178, appendix C"
_LIANG = "Liang et al. 2019, arXiv 1711.01530"

#: What is added before a logarithm.
TINY = 1e-30


def weight_gradients(
    subject: Subject, n_samples: int, seed: int, label: str = "true", *, folded: bool = False
) -> tuple[Array, Array, float]:
    """Return |g_i|^2 (n,), <w, g_i> (n,) and |mean g_i|^2, g_i the gradient of one example's cross-entropy.

    The rest is as with `relative_gradients`.
    """
    squares, products, mean_square, unit = relative_gradients(subject, n_samples, seed, label, folded=folded)
    size = math.exp(unit)
    return size**2 * squares, size * products, size**2 * mean_square


@shared
def relative_gradients(
    subject: Subject, n_samples: int, seed: int, label: str = "true", *, folded: bool = False
) -> tuple[Array, Array, float, float]:
    """The same in a unit e^s of gradients, in which squares do not vanish where answers are beyond doubt; and s.

    Labels are the `true` ones, or drawn from the `model`'s own probabilities. With normalization `folded` weights are
    kernels and biases.

    Raises:
        ValueError: another `label`.
        MeasureUnavailable: a layer whose gradients cannot be taken apart.
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
    """Factors that bring numbers in units e^first and e^second into the larger one, and its logarithm."""
    unit = max(first, second)
    return math.exp(first - unit), math.exp(second - unit), unit


def added(total: Array, before: float, part: Array, now: float) -> Array:
    """Return before * total + now * part (weights,), float64, in the memory of `total`. Factors are of `in_one_unit`.

    New arrays as long as the weights would take about as long as a pass. A total of another length counts as 0.
    """
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


def _gradient_measure(
    name: str, meaning: str, formula: str, source: str, compute: Callable[[Subject, int, int], float],
    needs: set[Need] = _NEEDS,
) -> None:  # fmt: skip
    """Register a measure of gradients, and its logarithm."""

    @measure(name=name, meaning=meaning, formula=formula, source=source, cost=Cost.GRADIENTS, work="1 B", needs=needs)
    def plain(subject: Subject, *, n_samples: int = 2048, seed: int = 0) -> float:
        """Range: [0, inf)."""
        return compute(subject, n_samples, seed)

    @measure(
        name=f"log_{name}", meaning=f"logarithm: {meaning}", formula=f"ln({formula} + 1e-30)",
        source=source, cost=Cost.GRADIENTS, work="1 B", needs=needs,
    )  # fmt: skip
    def logarithm(subject: Subject, *, n_samples: int = 2048, seed: int = 0) -> float:
        """At least ln 1e-30."""
        return math.log(compute(subject, n_samples, seed) + TINY)


def _noise(subject: Subject, n_samples: int, seed: int) -> float:
    squares, _, mean_square = weight_gradients(subject, n_samples, seed)
    return max(float(squares.mean()) - mean_square, 0.0)  # only rounding makes it negative


_gradient_measure(
    "gradient_norm", "squared norm of the loss' gradient over the training set", "|E g|^2", _JIANG,
    lambda subject, n, seed: weight_gradients(subject, n, seed)[2],
)  # fmt: skip
_gradient_measure(
    "gradient_noise_final", "variance of the loss' gradient over examples", "E |g_i - E g|^2",
    "Jiang et al. 2019, arXiv 1912.02178, eq. 66", _noise,
)  # fmt: skip
_gradient_measure(
    "fisher_rao_norm", "Fisher-Rao norm of the weights", "sqrt(E <w, g_i>^2)", _LIANG,
    lambda subject, n, seed: math.sqrt(float(np.square(weight_gradients(subject, n, seed)[1]).mean())),
)  # fmt: skip


@measure(
    meaning="trace of the empirical Fisher matrix", formula="E |g_i|^2", source=_LIANG, cost=Cost.GRADIENTS, work="1 B",
    needs=_NEEDS,
)  # fmt: skip
def fisher_trace(
    subject: Subject, *, n_samples: int = 2048, label: str = "true", folded: bool = False, seed: int = 0
) -> float:
    """Mean squared norm of single examples' gradients. Range: [0, inf).

    Args:
        subject: the network and its training data.
        n_samples: training examples.
        label: "true", or "model" for labels drawn from the model's own probabilities.
        folded: look at the network with its normalization folded, whose parameters are kernels and biases.
        seed: draws examples and labels.
    """
    return float(weight_gradients(subject, n_samples, seed, label, folded=folded)[0].mean())


@measure(
    meaning="logarithm: trace of the empirical Fisher matrix", formula="ln(E |g_i|^2 + 1e-30)",
    source=_LIANG, cost=Cost.GRADIENTS, work="1 B", needs=_NEEDS,
)  # fmt: skip
def log_fisher_trace(
    subject: Subject, *, n_samples: int = 2048, label: str = "true", folded: bool = False, seed: int = 0
) -> float:
    """Logarithm of `fisher_trace`."""
    return math.log(float(weight_gradients(subject, n_samples, seed, label, folded=folded)[0].mean()) + TINY)


@shared
def input_gradients(subject: Subject, n_samples: int, seed: int) -> Array:
    """Norms (n,) of the gradients of single examples' cross-entropies with respect to the input."""
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


_gradient_measure(
    "input_gradient_norm", "norm of the loss' gradient with respect to the input", "E |d l / d x|_2",
    "Novak et al. 2018, arXiv 1802.08760", lambda subject, n, seed: float(input_gradients(subject, n, seed).mean()),
    needs={*_NEEDS, Need.QUANTITIES},
)  # fmt: skip


@measure(
    meaning="change of the logits under noise on the input",
    formula="E |f(x + eta) - f(x)|^2 / E |f|^2, eta ~ N(0, tau^2 I)", source="Forouzesh et al. 2021, arXiv 2010.02074",
    cost=Cost.FORWARD, work="2 F", needs={Need.DATA, Need.QUANTITIES},
)  # fmt: skip
def sensitivity_output_change(
    subject: Subject, *, relative_noise: float = 0.01, n_samples: int = 10_000, seed: int = 0
) -> float:
    """Relative change of the logits. Range: [0, inf); 0 where all logits are 0.

    Args:
        subject: the network and its training data.
        relative_noise: tau in units of the standard deviation of the inputs.
        n_samples: training examples.
        seed: draws examples and noise.
    """
    sample, answers = logits(subject, n_samples, seed)
    noise = stream("noise on inputs", seed).standard_normal(sample.inputs.shape, np.float32)
    moved = subject.network.outputs(sample.inputs + np.float32(relative_noise * sample.inputs.std()) * noise)[0]
    power = float(np.square(answers, dtype=np.float64).mean())
    return float(np.square(moved - answers, dtype=np.float64).mean()) / power if power else 0.0
