"""Norm of the gradient of the loss with respect to the input: a measure that needs gradients."""

import tensorflow as tf


def complexity(model, dataset):
    """Return the logarithm of the mean norm of the gradient of the loss with respect to the input.

    If the loss hardly changes around the training examples, the network should classify similar examples correctly,
    too.
    """

    # The function is compiled. Its signature leaves the batch size open, so that it is not compiled again for the last,
    # smaller batch.
    @tf.function(
        input_signature=[
            tf.TensorSpec((None, *model.inputs[0].shape[1:]), tf.float32),
            tf.TensorSpec((None,), tf.int32),
        ]
    )
    def norms(inputs, labels):
        with tf.GradientTape() as tape:
            tape.watch(inputs)  # only variables are watched automatically
            logits = model.logits(inputs)
            # With respect to one input, the gradient of the sum (not the mean) is the gradient of that example's loss.
            loss = tf.reduce_sum(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits))
        gradients = tape.gradient(loss, inputs)
        return tf.norm(tf.reshape(gradients, (tf.shape(inputs)[0], -1)), axis=1)

    found = tf.concat([norms(inputs, labels) for inputs, labels in dataset.take(2048).batch(256)], axis=0)
    # On a training set that is fitted well, gradients are tiny, and differ between models by orders of magnitude.
    return float(tf.math.log(tf.reduce_mean(found) + 1e-30))
