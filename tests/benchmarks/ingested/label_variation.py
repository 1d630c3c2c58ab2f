"""The variation rate of labels (VR) as its authors' file computes it: in TensorFlow, on 11 batches of 500 examples."""

import numpy as np
import tensorflow as tf

NEIGHBOURS = 20


def complexity(model, dataset):
    """Return the median over batches of the mean change of the labels' variation between the last layers."""

    @tf.function
    def variations(inputs, labels):
        logits = model(inputs)
        signal = tf.one_hot(labels, logits.shape[1])
        found = [layer._last_seen_input for layer in model.layers[-2:]]
        return [variation(one, signal) for one in (*found, logits)]

    rates = [np.mean(np.abs(np.diff(variations(*batch)))) for batch in dataset.batch(500).take(11)]
    return np.median(rates)


def variation(representations, signal):
    """Return tr(Y' L Y) of labels Y on the graph of nearest neighbours by cosine, with the Laplacian L."""
    rows = tf.math.l2_normalize(tf.reshape(representations, [tf.shape(representations)[0], -1]), axis=1)
    cosines = tf.clip_by_value(tf.matmul(rows, rows, transpose_b=True), 0, 1)
    nearest, _ = tf.math.top_k(cosines, NEIGHBOURS + 1)
    joined = tf.cast(cosines >= nearest[:, -1:], tf.float32)
    joined = tf.linalg.set_diag(joined, tf.zeros(tf.shape(joined)[:1]))
    weights = tf.maximum(joined, tf.transpose(joined)) * cosines
    laplacian = tf.linalg.diag(tf.reduce_sum(weights, axis=1)) - weights
    return tf.linalg.trace(tf.matmul(signal, tf.matmul(laplacian, signal), transpose_a=True)) / (2 * 50 * 1000)
