"""Trains a linear classifier by RMSProp, in float32 as the frameworks do."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float32]

#: Steps of a training, points of a batch, learning rate: from the paper.
STEPS, BATCH, RATE = 50_000, 100, np.float32(0.01)

#: Decay and epsilon of RMSProp and the first mean square, which the paper does not state: those of TensorFlow 1.
DECAY, EPSILON, FIRST_SQUARE = np.float32(0.9), np.float32(1e-10), np.float32(1.0)

#: The training has come to rest after so many epochs in which no point had a gradient.
PATIENCE = 20


@dataclass(frozen=True)
class Classifier:
    """A trained classifier: the sign of `weights @ x + bias`.

    Attributes:
        weights: shape (dimension,).
        bias: a number.
        loss: mean cross-entropy on the training points, plus the penalty.
        train_accuracy: in [0, 1].
        steps: number of steps that were made.
    """

    weights: Array
    bias: float
    loss: float
    train_accuracy: float
    steps: int


def train(points: Array, labels: NDArray[np.floating], penalty: float, random: np.random.Generator) -> Classifier:
    """Train for `STEPS` steps from weights of zero; batches are drawn anew for every epoch.

    A point's gradient is exactly zero in float32 as soon as its probability rounds to one. The training ends early when
    this holds for all points: then only the first weight still moves, and the penalty lets it oscillate around zero.

    Args:
        points: shape (n_points, dimension); the number is a multiple of `BATCH`.
        labels: -1 or 1, shape (n_points,).
        penalty: factor of the square of the first weight in the loss.
        random: draws the batches.
    """
    signed = np.column_stack([points * labels[:, None], labels]).astype(np.float32)  # the margin of w is signed @ w
    weights = np.zeros(signed.shape[1], np.float32)
    squares = np.full_like(weights, FIRST_SQUARE)
    n_batches, step, quiet = len(signed) // BATCH, 0, 0
    with np.errstate(over="ignore"):
        while step < STEPS and quiet < PATIENCE * n_batches:
            for batch in signed[random.permutation(len(signed))].reshape(n_batches, BATCH, -1):
                residuals = _residuals(batch @ weights)
                is_quiet = not residuals.any()
                gradient = np.zeros_like(weights) if is_quiet else residuals @ batch / np.float32(-BATCH)
                gradient[0] += np.float32(2 * penalty) * weights[0]
                squares = DECAY * squares + (1 - DECAY) * gradient * gradient
                weights -= RATE * gradient / np.sqrt(squares + EPSILON)
                quiet = quiet + 1 if is_quiet else 0
                step += 1
    margins = (signed @ weights).astype(np.float64)
    loss = float(np.logaddexp(0, -margins).mean() + penalty * float(weights[0]) ** 2)
    return Classifier(weights[:-1], float(weights[-1]), loss, float((margins > 0).mean()), step)


def _residuals(margins: Array) -> Array:
    """Return 1 minus the probability of the true class: exactly zero if the probability rounds to one."""
    one = np.float32(1)
    return one - one / (one + np.exp(-margins))
