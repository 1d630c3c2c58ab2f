"""A compiled TensorFlow function with a loop in it."""

import tensorflow as tf

RUNTIME = "tensorflow"
EXPECT = ("OK",)
VALUE = 45.0


@tf.function
def total(n):
    result = 0.0
    for i in tf.range(n):
        result += tf.cast(i, tf.float32)
    return result


def complexity(model, dataset):
    return total(tf.constant(10))
