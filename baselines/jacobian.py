"""Derivatives of the logits."""

from typing import Any

import tensorflow as tf

from baselines.network import layer_inputs, up_to_logits


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
    with up_to_logits(model) as network:
        inputs = layer_inputs(network)
        sums_of_squares = _make_sums_of_squares(network, inputs)
        n_classes = int(network.output.shape[-1])
        directions = tf.split(tf.eye(n_classes), _sections(n_classes, classes_at_once))
        means = []
        for images, _ in dataset.batch(batch_size).take(n_batches):
            total = sum(float(sums_of_squares(images, some)) for some in directions)
            means.append(total / (len(inputs) * n_classes * int(images.shape[0])))
    return sum(means) / len(means)


def _sections(total: int, size: int) -> list[int]:
    whole, rest = divmod(total, size)
    return [size] * whole + ([rest] if rest else [])


def _make_sums_of_squares(network: Any, inputs: list[Any]) -> Any:
    """Return f(images, directions): the sum, over layers, examples and directions, of mean squared gradients.

    In inference mode the examples of a batch do not see each other. So every example is repeated once for
    each direction in the space of logits, and one backward pass gives all rows of all Jacobians: no loop
    over classes in the graph, which would take seconds to trace.
    """
    taps = tf.keras.Model(network.inputs, [*inputs, network.output])

    def compute(images: Any, directions: Any) -> Any:
        repeated = tf.repeat(images, tf.shape(directions)[0], axis=0)
        seeds = tf.tile(directions, [tf.shape(images)[0], 1])
        with tf.GradientTape() as tape:
            tape.watch(repeated)
            *seen, logits = taps(repeated, training=False)
        gradients = tape.gradient(logits, seen, output_gradients=seeds)
        axes = [list(range(1, len(gradient.shape))) for gradient in gradients]
        means = [
            tf.reduce_mean(tf.square(gradient), axis=axis)
            for gradient, axis in zip(gradients, axes, strict=True)
        ]
        return tf.add_n([tf.reduce_sum(mean) for mean in means])

    shapes = (network.inputs[0].shape, (None, network.output.shape[-1]))  # any batch size: traced once
    return tf.function(compute, input_signature=[tf.TensorSpec(shape, tf.float32) for shape in shapes])
