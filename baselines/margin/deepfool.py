"""The distance of training examples from the decision boundary in input space, found by DeepFool.

DeepFool linearizes the network, steps to the nearest boundary of the linear function, and repeats this until the
prediction changes (algorithm 2 of Moosavi-Dezfooli, Fawzi and Frossard 2016, arXiv 1511.04599).
"""

import functools
import math
from typing import Any

import numpy as np

from baselines.core.lazy import tf
from baselines.core.measure import MeasureUnavailable, Need, measure
from baselines.core.outputs import logits
from baselines.core.sample import Array
from baselines.core.subject import Subject
from baselines.network import Network, joined

#: Memory for the gradient of a logit, as a multiple of a forward pass's memory.
PASSES = 2


@measure(Need.CLASSES, Need.GRADIENTS, Need.QUANTITIES)
def deepfool_margin(
    subject: Subject, *, n_samples: int = 256, n_classes: int = 10, n_steps: int = 50, overshoot: float = 0.02,
    seed: int = 0,
) -> float:  # fmt: skip
    """Minus the mean relative size of the smallest change of an input that changes the prediction: DeepFool.

    Formula: -mean of |r_i| / |x_i|, r_i the change of input x_i, argmax f(x_i + 1.02 r_i) != argmax f(x_i), f the
    logits of kappa classes. Range: (-inf, 0]. Source: Moosavi-Dezfooli, Fawzi and Frossard 2016, arXiv 1511.04599.
    Work: 3 x min(kappa, 10) backward passes; at most 50 x min(kappa, 10). Refused: all examples are left out.

    Predictions may be right or wrong. If a prediction does not change within `n_steps`, the change up to there counts.
    Inputs of zeros and examples without a gradient are left out.

    Args:
        n_classes: number of classes whose boundaries are searched: those with the largest logits, as in the authors'
            code.
        n_steps: largest number of linearizations.
        overshoot: fraction of the change added to cross the boundary.
    """
    sample, answers = logits(subject, n_samples, seed)
    network, inputs = subject.network, sample.inputs
    candidates = np.argsort(-answers, axis=1, kind="stable")[:, :n_classes].astype(np.int32)
    changes = _changes(network, inputs, candidates, n_steps, 1 + overshoot)
    sizes = np.linalg.norm(inputs.reshape(len(inputs), -1).astype(np.float64), axis=1)
    lengths = np.linalg.norm(changes, axis=1)
    counts = (sizes > 0) & ~np.isnan(lengths)
    if not counts.any():
        raise MeasureUnavailable("needs examples that are not zeros only and have a gradient, which are lacking")
    return -float(np.mean(lengths[counts] / sizes[counts]))


def _changes(network: Network, inputs: Array, candidates: Array, n_steps: int, factor: float) -> Array:
    changes = np.zeros((len(inputs), math.prod(inputs.shape[1:])))
    waiting = np.arange(len(inputs))
    for _ in range(n_steps):
        moved = inputs[waiting] + (factor * changes[waiting]).reshape(inputs[waiting].shape)
        answers, slopes = _linearized(network, moved.astype(np.float32), candidates[waiting])
        still = answers.argmax(axis=1) == candidates[waiting, 0]
        waiting, answers, slopes = waiting[still], answers[still], slopes[still].astype(np.float64)
        if not len(waiting):
            break
        values = np.take_along_axis(answers.astype(np.float64), candidates[waiting], axis=1)
        gaps, normals = values[:, :1] - values[:, 1:], slopes[:, 1:] - slopes[:, :1]
        changes[waiting] += _to_nearest(gaps, normals)
    return changes


def _to_nearest(gaps: Array, normals: Array) -> Array:
    squares = np.sum(normals**2, axis=2)
    with np.errstate(divide="ignore", invalid="ignore"):
        distances = np.where(squares > 0, gaps / np.sqrt(squares), np.inf)
        rows, nearest = np.arange(len(gaps)), distances.argmin(axis=1)
        steps = (gaps / squares)[rows, nearest, None] * normals[rows, nearest]
    return np.where(np.isfinite(distances[rows, nearest])[:, None], steps, np.nan)


def _linearized(network: Network, inputs: Array, candidates: Array) -> tuple[Array, Array]:
    n_candidates = candidates.shape[1]
    run = functools.partial(_gradients, network)
    size = max(network.batch_size_of(PASSES * n_candidates), 1)
    key = ("gradients of candidates", n_candidates)
    answers, slopes = joined(network.in_batches(key, run, [inputs, candidates], size=size, often=True))
    return answers, slopes


def _gradients(network: Network, images: Any, candidates: Any) -> tuple[Any, Any]:
    number = candidates.shape[1]
    repeated = tf.repeat(images, number, axis=0)
    with tf.GradientTape() as tape:
        tape.watch(repeated)
        answers = network.logits(repeated)
    directions = tf.one_hot(tf.reshape(candidates, [-1]), network.n_classes, dtype=answers.dtype)
    rows = tape.gradient(answers, repeated, output_gradients=directions)
    return answers[::number], tf.reshape(rows, (-1, number, math.prod(images.shape[1:])))
