"""Norms of the Jacobian of the logits with respect to inputs of the network or of its layers."""

from collections.abc import Callable
from typing import Any

import numpy as np

from baselines.core.lazy import tf
from baselines.core.measure import Need, measure
from baselines.core.outputs import logits
from baselines.core.requirements import require_classes
from baselines.core.sample import Array, checked
from baselines.core.subject import Subject, shared
from baselines.network import INPUT, Network
from baselines.network.losses import Derivative, balanced, sum_over_logits


@measure(Need.GRADIENTS, Need.QUANTITIES)
def jacobian_norm(subject: Subject, *, n_batches: int = 33, batch_size: int = 16) -> float:
    """Mean squared entry of the Jacobians of the logits with respect to the inputs of all layers.

    Formula: mean over batches, and over all inputs x^l of layers, of mean((d f / d x^l)^2), f the logits of kappa
    classes. Range: [0, inf). Source: PGDL starting kit (Jiang et al. 2020, arXiv 2012.07976). Work: kappa backward
    passes over 528 examples. Draws: depend on the order of examples.

    As in the starting kit, the first 33 batches of 16 examples are read. All layers, including pooling and reshaping,
    have equal weight, and so have all batches, including a smaller last batch. A layer with several inputs, such as
    `Add`, counts once for each input; the starting kit does not cover such layers.

    Args:
        n_batches: batches from the dataset's start.
        batch_size: examples in a batch.
    """
    network = subject.network
    images = _first(subject.dataset, n_batches * batch_size)
    key = "mean squares of Jacobians"
    squares = sum_over_logits(network, key, lambda some: _mean_squares(network, some), images) / network.n_classes
    return float(np.mean([squares[start : start + batch_size].mean() for start in range(0, len(squares), batch_size)]))


def _first(dataset: Any, number: int) -> Array:
    for images, labels in dataset.batch(number).take(1):
        return checked(images.numpy(), labels.numpy(), 0)[0]
    raise ValueError("dataset: expected examples, found none")


def _mean_squares(network: Network, images: Any) -> Derivative:
    positions = [position for sources, _ in network.layers for position in sources if position != network.output]
    places = sorted({INPUT, *positions})
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(images)
        *found, logits = network.run({INPUT: images}, [*places, network.output])

    def of_logit(direction: Any) -> Any:
        rows = tape.gradient(logits, found, output_gradients=tf.ones_like(logits) * direction)
        means = {place: _over_entries(tf.reduce_mean, row) for place, row in zip(places, rows, strict=True)}
        return tf.reduce_mean([means[position] for position in positions], axis=0)

    return of_logit


def _over_entries(reduce: Callable[..., Any], rows: Any) -> Any:
    return reduce(tf.square(rows), axis=list(range(1, len(rows.shape))))


@shared
def jacobian_norms(subject: Subject, n_samples: int, seed: int, outputs: str) -> Array:
    """Return |J_i|_F (n,), J_i the Jacobian of "logits" or "probabilities" (`outputs`) with respect to input i."""
    if outputs not in ("logits", "probabilities"):
        raise ValueError(f"outputs: expected logits or probabilities, found {outputs}")
    if outputs == "probabilities":
        require_classes(subject)
    network, images = subject.network, subject.sample(n_samples, seed).inputs
    key = ("input Jacobians", outputs)
    squares = sum_over_logits(network, key, lambda some: _input_squares(network, some, outputs), images)
    return np.sqrt(squares)


def _input_squares(network: Network, images: Any, outputs: str) -> Derivative:
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(images)
        logits = network.logits(images)
    probabilities = tf.nn.softmax(logits) if outputs == "probabilities" else None

    def of_output(direction: Any) -> Any:
        slopes = tf.ones_like(logits) * direction
        if probabilities is not None:
            along = tf.reduce_sum(direction * probabilities, axis=1, keepdims=True)
            slopes = balanced(probabilities * (direction - along), logits)
        return _over_entries(tf.reduce_sum, tape.gradient(logits, images, output_gradients=slopes))

    return of_output


@measure(Need.GRADIENTS, Need.QUANTITIES)
def input_jacobian_norm(subject: Subject, *, n_samples: int = 2048, outputs: str = "logits", seed: int = 0) -> float:
    """Mean Frobenius norm of the Jacobian of the logits with respect to the input.

    Formula: E |d f / d x|_F, f the logits of kappa classes, x the input. Range: [0, inf). Source: Novak et al. 2018,
    arXiv 1802.08760. Work: kappa backward passes.

    Args:
        outputs: differentiate "logits" or "probabilities".
    """
    return float(jacobian_norms(subject, n_samples, seed, outputs).mean())


@measure(Need.GRADIENTS, Need.QUANTITIES)
def log_jacobian_norm_normalized(subject: Subject, *, n_samples: int = 2048, seed: int = 0) -> float:
    """Mean logarithm of a ratio: the Jacobian's norm times the input's norm, divided by the norm of the logits.

    Formula: E ln(|d f / d x|_F |x| / |f|), f the logits of kappa classes, x the input. Source: Novak et al. 2018, arXiv
    1802.08760. Work: kappa backward passes.

    Examples for which one of the norms is 0 are left out; if no example is left, the value is 0.
    """
    sample, answers = logits(subject, n_samples, seed)
    sizes = [
        np.linalg.norm(array.reshape(len(array), -1).astype(np.float64), axis=1) for array in (sample.inputs, answers)
    ]
    parts = np.array([jacobian_norms(subject, n_samples, seed, "logits"), *sizes])
    jacobians, inputs, outputs = parts[:, (parts > 0).all(axis=0)]
    return float(np.mean(np.log(jacobians) + np.log(inputs) - np.log(outputs))) if len(inputs) else 0.0


@measure(Need.GRADIENTS, Need.QUANTITIES)
def geometric_complexity(subject: Subject, *, n_samples: int = 2048, seed: int = 0) -> float:
    """Mean squared Frobenius norm of the Jacobian of the logits with respect to the input.

    Formula: E |d f / d x|_F^2, f the logits of kappa classes, x the input. Range: [0, inf). Source: Dherin, Munn, Rosca
    and Barrett 2022, arXiv 2209.13083. Work: kappa backward passes.

    Geometric complexity is a discrete Dirichlet energy. It is |W|_F^2 for a linear network with weights W, and 0 for
    constant outputs. It exceeds the square of `input_jacobian_norm` by the variance of the norm over examples. Dherin
    et al. take all training examples, or a batch.
    """
    return float(np.mean(jacobian_norms(subject, n_samples, seed, "logits") ** 2))
