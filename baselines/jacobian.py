"""Derivatives of the logits."""

from typing import Any

import numpy as np
import tensorflow as tf

from baselines.network import Forward, forward_pass


def jacobian_norm(
    model: Any, dataset: Any, *, n_batches: int = 33, batch_size: int = 16, classes_at_once: int = 10
) -> float:
    """Mean square of the entries of d logits / d input of a layer, averaged over layers. Range: [0, inf).

    All layers count alike, pooling and reshaping included, and all batches, a last smaller one included:
    the starting kit of the competition does so with the first 33 batches of 16 examples.

    Args:
        model: the trained network.
        dataset: the training data, one (image, label) after the other.
        n_batches: how many batches are read from the dataset's start.
        batch_size: examples in a batch.
        classes_at_once: logits that are differentiated in one pass; more need more memory and less time.
    """
    n_classes = int(model.outputs[0].shape[-1])
    directions = tf.split(tf.eye(n_classes), _sections(n_classes, classes_at_once))
    with forward_pass(model) as forward:
        mean_squares = tf.function(
            lambda images, directions: _mean_squares(forward, images, directions),
            input_signature=[  # any batch size, so that it is traced once
                tf.TensorSpec(model.inputs[0].shape, tf.float32),
                tf.TensorSpec((None, n_classes), tf.float32),
            ],
        )
        batches = [
            np.average(
                [mean_squares(images, some) for some in directions],
                weights=[len(some) for some in directions],
            )
            for images, _ in dataset.batch(batch_size).take(n_batches)
        ]
    return float(np.mean(batches))


def _sections(total: int, size: int) -> list[int]:
    whole, rest = divmod(total, size)
    return [size] * whole + ([rest] if rest else [])


def _mean_squares(forward: Forward, images: Any, directions: Any) -> Any:
    """Mean, over layers, of the mean square of the logits' derivatives along `directions` (n, classes).

    In inference mode the examples of a batch do not see each other. So every example is repeated once for
    each direction in the space of logits, and one backward pass gives all rows of all Jacobians: no loop
    over classes in the graph, which would take seconds to trace.
    """
    repeated = tf.repeat(images, tf.shape(directions)[0], axis=0)
    seeds = tf.tile(directions, [tf.shape(images)[0], 1])
    with tf.GradientTape() as tape:
        tape.watch(repeated)
        inputs, logits = forward(repeated)
    gradients = tape.gradient(logits, inputs, output_gradients=seeds)
    return tf.reduce_mean([tf.reduce_mean(tf.square(gradient)) for gradient in gradients])
