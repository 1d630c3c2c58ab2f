"""Trains the network of a cell until it meets the recipe's criterion on the whole training set in inference mode."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import tensorflow as tf

from harness.corpus.augmentation import augment
from harness.corpus.recipe import Training

#: Number of examples that are evaluated at once.
EVALUATION_BATCH = 1024


class DivergedError(Exception):
    """The loss or a weight became NaN or infinite."""


@dataclass(frozen=True)
class TrainingProgress:
    """The state of a training after an epoch, evaluated on the whole training set in inference mode."""

    epoch: int  #: number of finished epochs
    cross_entropy: float  #: in nats
    accuracy: float  #: 0 to 1


def train(
    model: Any,
    inputs: np.ndarray[Any, Any],
    labels: np.ndarray[Any, Any],
    training: Training,
    perturbation_range: tuple[float, float] | None,
    report: Callable[[TrainingProgress], None],
) -> dict[str, Any]:
    """Train a Keras network in place; return `reached`, `epochs`, `cross_entropy` and `seconds`.

    `reached` says whether the training met the criterion. The network's outputs are logits. Inputs are float32,
    (N, height, width, channels) in [0, 1], and labels (N,). `perturbation_range` has the lowest and highest magnitude
    of perturbations. `report` is called after each evaluation. Raise `DivergedError` if the loss or a weight becomes
    NaN or infinite.
    """
    steps = -(-len(inputs) // training.batch_size)
    model.compile(
        optimizer=_optimizer(training, steps),
        loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        steps_per_execution=steps,  # a whole epoch is one compiled call
    )
    criterion = _Criterion(inputs, labels, training, report)
    callbacks: list[Any] = [criterion]
    if training.reduce_on_plateau:
        callbacks.append(tf.keras.callbacks.ReduceLROnPlateau(monitor="loss"))
    batches = _batches(inputs, labels, training, perturbation_range)
    started = time.monotonic()
    model.fit(batches, epochs=training.max_epochs, verbose=0, callbacks=callbacks)
    return {
        "reached": criterion.reached,
        "epochs": criterion.progress.epoch,
        "cross_entropy": criterion.progress.cross_entropy,
        "seconds": round(time.monotonic() - started, 2),
    }


def _optimizer(training: Training, steps_per_epoch: int) -> Any:
    rate: Any = training.learning_rate
    if training.drop_epochs:
        rates = [rate * training.drop_factor**n for n in range(len(training.drop_epochs) + 1)]
        boundaries = [epoch * steps_per_epoch for epoch in training.drop_epochs]
        rate = tf.keras.optimizers.schedules.PiecewiseConstantDecay(boundaries, rates)
    if training.optimizer == "adam":
        return tf.keras.optimizers.Adam(rate)
    if training.optimizer == "rmsprop":
        return tf.keras.optimizers.RMSprop(rate, momentum=training.momentum)
    return tf.keras.optimizers.SGD(rate, momentum=training.momentum)


def _batches(
    inputs: Any, labels: Any, training: Training, perturbation_range: tuple[float, float] | None
) -> tf.data.Dataset:
    batches = tf.data.Dataset.from_tensor_slices((inputs, labels)).shuffle(len(inputs)).batch(training.batch_size)
    if training.augmentation != "none":
        change = augment(
            training.augmentation, training.augmentation_share, training.augmentation_level, perturbation_range
        )
        # Not in parallel: the order of random draws, and so the model, would not be reproducible.
        batches = batches.map(lambda images, classes: (change(images), classes))
    return batches.prefetch(tf.data.AUTOTUNE)


class _Criterion(tf.keras.callbacks.Callback):  # type: ignore[misc]  # TensorFlow has no types
    """A callback of Keras that evaluates the whole training set, and ends the training once the criterion is met."""

    def __init__(
        self, inputs: Any, labels: Any, training: Training, report: Callable[[TrainingProgress], None]
    ) -> None:
        super().__init__()
        self._data = tf.data.Dataset.from_tensor_slices((inputs, labels)).batch(EVALUATION_BATCH).cache()
        self._number, self._training, self._report = len(inputs), training, report
        self.reached = False
        self.progress = TrainingProgress(0, float("inf"), 0.0)
        self._evaluate = tf.function(self._sums)

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        done = epoch + 1
        if done % self._training.check_every and done < self._training.max_epochs:
            return
        cross_entropy, correct = (float(total) / self._number for total in self._evaluate())
        if not np.isfinite(cross_entropy):
            raise DivergedError(f"the loss is {cross_entropy} after epoch {done}")
        # Pooling can hide NaN: the loss may still be finite.
        if not all(np.isfinite(weights).all() for weights in self.model.get_weights()):
            raise DivergedError(f"weights are NaN or infinite after epoch {done}")
        self.progress = TrainingProgress(done, cross_entropy, correct)
        self._report(self.progress)
        stop = self._training.stop
        self.reached = (stop.cross_entropy is not None and cross_entropy <= stop.cross_entropy) or (
            stop.train_accuracy is not None and correct >= stop.train_accuracy
        )
        self.model.stop_training = self.reached

    def _sums(self) -> tuple[Any, Any]:
        loss, correct = tf.constant(0.0), tf.constant(0.0)
        for images, labels in self._data:
            logits = tf.cast(self.model(images, training=False), tf.float32)
            loss += tf.reduce_sum(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits))
            correct += tf.reduce_sum(tf.cast(tf.argmax(logits, 1, tf.int32) == labels, tf.float32))
        return loss, correct


def accuracy(model: Any, inputs: np.ndarray[Any, Any], labels: np.ndarray[Any, Any]) -> float:
    """Return the fraction of examples that `model` classifies correctly."""
    predicted = model.predict(inputs, batch_size=EVALUATION_BATCH, verbose=0).argmax(axis=1)
    return float(np.mean(predicted == labels))
