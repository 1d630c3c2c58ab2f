"""How much the loss changes with the input: a measure that needs gradients."""

import tensorflow as tf


def complexity(model, dataset):
    """Return the logarithm of the mean norm of the loss' gradient with respect to the input.

    A network that fits its examples in flat places of its loss is expected to fit their neighbours as well.
    """

    # Compiled: the function is traced once, not once for every batch. The signature leaves the batch size open, or
    # the last, smaller batch would be traced again.
    @tf.function(
        input_signature=[
            tf.TensorSpec((None, *model.inputs[0].shape[1:]), tf.float32),
            tf.TensorSpec((None,), tf.int32),
        ]
    )
    def norms(inputs, labels):
        with tf.GradientTape() as tape:
            tape.watch(inputs)  # inputs are no variables: the tape has to be told
            logits = model.logits(inputs)
            # The sum, not the mean: the gradient of one example's loss is then what the example adds to it.
            loss = tf.reduce_sum(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits))
        gradients = tape.gradient(loss, inputs)
        return tf.norm(tf.reshape(gradients, (tf.shape(inputs)[0], -1)), axis=1)

    found = tf.concat([norms(inputs, labels) for inputs, labels in dataset.take(2048).batch(256)], axis=0)
    # Where the training set is fitted well the gradients are tiny, and differ by orders of magnitude.
    return float(tf.math.log(tf.reduce_mean(found) + 1e-30))
