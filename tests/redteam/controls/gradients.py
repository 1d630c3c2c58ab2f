"""Gradients of the loss by the inputs and by the weights."""

import tensorflow as tf

RUNTIME = "tensorflow"
EXPECT = ("OK",)
VALUE = 1.0


def complexity(model, dataset):
    inputs, labels = next(iter(dataset.batch(8)))
    with tf.GradientTape() as tape:
        tape.watch(inputs)
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, model(inputs)))
    gradients = tape.gradient(loss, [inputs, *model.trainable_weights])
    return float(all(gradient is not None for gradient in gradients))
