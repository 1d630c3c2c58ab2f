"""A tf.data pipeline with shuffling, parallel maps and prefetching: it starts threads."""

import tensorflow as tf

RUNTIME = "tensorflow"
EXPECT = ("OK",)
VALUE = 24.0


def complexity(model, dataset):
    pipeline = dataset.shuffle(16).map(lambda x, y: (x * 2, y), num_parallel_calls=tf.data.AUTOTUNE)
    return sum(len(labels) for _, labels in pipeline.batch(5).prefetch(2))
