"""`jacobian_norm` as the competition's starting kit computes it: for each layer's input, a loop over classes."""

import numpy as np
import tensorflow as tf


def complexity(model, dataset):
    """Return the mean square of the derivatives of logits by each layer's input, over 33 batches of 16 examples."""

    @tf.function
    def jacobians(inputs):
        with tf.GradientTape(persistent=True) as tape:
            logits = model(inputs, tape=tape)
        return [tape.batch_jacobian(logits, layer._last_seen_input) for layer in model.layers]

    mean = tf.keras.metrics.Mean()
    for inputs, _ in dataset.batch(16).take(33):
        mean.update_state(np.mean([np.mean(np.square(one)) for one in jacobians(inputs)]))
    return mean.result().numpy()
