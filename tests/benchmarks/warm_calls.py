"""Prints seconds of measures, and of their passes alone; test_measures.py runs it, since it loads TensorFlow.

Every call is on a new network, for which nothing has been compiled, as in a worker. But the process is warm: it has
called the measure on other networks. Before the measure, another measure analyses the network and reads the training
data, as in a run of several measures; its time is printed, too.
"""

import functools
import json
import sys
from pathlib import Path

import numpy as np
import tensorflow as tf

import baselines
from tests.baselines.measure_values import read_model
from tests.benchmarks.stopwatch import seconds

layers = tf.keras.layers
TASKS = Path(__file__).parents[2] / "task_data" / "input_data"

#: Measure -> whether its passes are backward passes (after a forward pass), and the number of passes.
PASSES = {
    "cdnv": (False, 1), "persistence_mean_h0": (False, 2), "layer_margin_log_mean": (True, 1), "gsnr": (True, 1),
}  # fmt: skip
#: The measure that is called first: it reads the training data, and makes a pass over a few examples.
BEFORE = "inverse_margin:n_samples=32"

#: Number of timed calls of a measure, each on a new network, and of calls before them.
CALLS, WARMING = 3, 1

#: Maximum number of examples that a measure uses, and batch size of the bare passes.
LOOKED_AT, BATCH = 2048, 256


def mnist_size():
    """A network of 225,000 weights, and 12,000 random images of 28 x 28 with labels."""
    convolutions = [part for n in (32, 64) for part in (layers.Conv2D(n, 3, activation="relu"), layers.MaxPooling2D())]
    dense = [layers.Flatten(), layers.Dense(128, "relu"), layers.Dense(10)]
    rng = np.random.default_rng(0)
    images = rng.random((12_000, 28, 28, 1), np.float32)
    return tf.keras.Sequential([tf.keras.Input((28, 28, 1)), *convolutions, *dense]), images, labels_of(images)


def demo(task):
    """A network of a shipped task, and as many random images as the task has, with labels."""
    model = read_model(TASKS / task / "model_21")
    images = np.random.default_rng(0).random((320, *model.input_shape[1:]), np.float32)
    return model, images, labels_of(images)


def labels_of(images):
    return np.random.default_rng(1).integers(0, 10, len(images)).astype(np.int32)


def bare(model, images, labels):
    """Return the seconds of a compiled forward pass, and of a compiled forward and backward pass together."""

    def forward(images, _labels):
        return [model(images, training=False)]

    def backward(images, labels):
        with tf.GradientTape() as tape:
            logits = model(images, training=False)
            loss = tf.reduce_sum(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits))
        return tape.gradient(loss, model.trainable_variables)

    def passes(compiled):
        for i in range(0, len(images), BATCH):
            for array in compiled(tf.constant(images[i : i + BATCH]), tf.constant(labels[i : i + BATCH])):
                array.numpy()

    found = []
    for function in (forward, backward):
        compiled = tf.function(function, reduce_retracing=True)
        for _ in range(2):  # the last batch is shorter
            passes(compiled)
        found.append(seconds(functools.partial(passes, compiled), CALLS))
    return found


def answered(model, images, labels):
    """Return labels of which at least half are the model's predictions, for margins of both signs."""
    found = model.predict(images, verbose=0).argmax(axis=1).astype(np.int32)
    return np.where(np.arange(len(labels)) % 2, found, labels)


def timed(name, model, images, labels):
    """Return the seconds of the measure `BEFORE` and of the measure `name`, called in this order on a new network."""
    data = tf.data.Dataset.from_tensor_slices((images, labels))
    object.__setattr__(data, "arrays", (images, labels))  # as in a worker
    before, calls = [], []
    for _ in range(WARMING + CALLS):
        new = tf.keras.models.clone_model(model)
        new.set_weights(model.get_weights())
        with baselines.sharing():
            before.append(seconds(functools.partial(baselines.load(BEFORE), new, data), 1))
            calls.append(seconds(functools.partial(baselines.load(name), new, data), 1))
    return min(before[WARMING:]), min(calls[WARMING:])


def report(model, images, labels):
    """Return measure -> seconds of the measure called before it, of the measure itself, and of its passes alone."""
    labels = answered(model, images, labels)
    floors = bare(model, images[:LOOKED_AT], labels[:LOOKED_AT])
    return {
        name: (*timed(name, model, images, labels), number * floors[there_and_back])
        for name, (there_and_back, number) in PASSES.items()
    }


NETWORKS = {
    "MNIST size": mnist_size,
    "digits_vgg": functools.partial(demo, "digits_vgg"),
    "digits_fcn_bn": functools.partial(demo, "digits_fcn_bn"),
    "digits_nin": functools.partial(demo, "digits_nin"),
}

if __name__ == "__main__":
    chosen = sys.argv[1:] or NETWORKS  # names of networks
    print(json.dumps({kind: report(*make()) for kind, make in NETWORKS.items() if kind in chosen}))
