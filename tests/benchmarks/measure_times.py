"""Prints seconds of measures and of the passes that they need, as JSON.

This program loads TensorFlow, so test_measures.py runs it in a process of its own, in one of two ways:

- `again`: a measure is called on one subject with two seeds. The first call builds and compiles functions, and only the
  second is timed. All functions are compiled, as in runs of more than a few batches.
- `new`: every call is on a new network, for which nothing has been compiled, as in a worker, but the process has called
  the measure on other networks. Before the measure, another measure analyses the network and reads the training data,
  as in a run of several measures; its time is printed, too.
"""

import functools
import itertools
import json
import sys
from pathlib import Path

import numpy as np
import tensorflow as tf

import baselines
from baselines.core.subject import subject_of
from baselines.network import network as running
from tests.baselines.measure_values import read_model
from tests.benchmarks.stopwatch import seconds

layers = tf.keras.layers
SAMPLES = 2048

#: A new one for every call: with one that was there before, the work would be shared.
SEEDS = itertools.count(1000)

#: Measure -> how many passes over all examples are its floor: forward passes, or passes with gradients.
FORWARD = {
    "inverse_margin:n_samples=2048": 1, "neg_entropy:n_samples=2048": 1, "gi_intra_l0:n_alphas=5": 5,
    "gi_inter_l0:n_alphas=5": 5, "gi_rotation:n_alphas=5": 5, "gi_color_jitter:n_alphas=5": 5,
    "inverse_layer_cushion:n_samples=2048": 1, "noise_sensitivity_l2": 3,
}  # fmt: skip
GRADIENT = {"fisher_trace": 1, "input_gradient_norm": 1, "sam_sharpness": 2}
#: Seeds do not change weights, so spectra are timed on their first call.
SPECTRAL = ("log_prod_of_spec", "log_prod_of_spec_fft")


def network(shape, widths, *, per_width, norm):
    """Return a network with `per_width` convolutions of each width, followed by pooling."""
    model = tf.keras.Sequential([tf.keras.Input(shape)])
    for width in widths:
        for _ in range(per_width):
            model.add(layers.Conv2D(width, 3, padding="same"))
            if norm:
                model.add(layers.BatchNormalization())
            model.add(layers.ReLU())
        model.add(layers.MaxPooling2D())
    model.add(layers.Flatten())
    model.add(layers.Dense(10))
    return model


#: Makers of a network as large as those of the shipped tasks, and of one like VGG.
SMALL = functools.partial(network, (8, 8, 1), (8, 16), per_width=1)
LARGE = functools.partial(network, (32, 32, 3), (32, 64, 128), per_width=2)


def timed(specification, model, data):
    """Return the seconds of a second call: its functions are compiled, but its results are not cached."""
    measure = baselines.load(specification)
    measure(model, data, seed=next(SEEDS))
    return seconds(lambda: measure(model, data, seed=next(SEEDS)))


def bare_gradient(network, sample):
    @tf.function(reduce_retracing=True)
    def gradient(images, labels):
        with tf.GradientTape() as tape:
            tape.watch(network.variables)
            loss = tf.reduce_sum(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, network.logits(images)))
        return tape.gradient(loss, network.variables)

    size = network.batch_size

    def run():
        for i in range(0, len(sample), size):
            [array.numpy() for array in gradient(sample.inputs[i : i + size], sample.labels[i : i + size])]

    run()
    return seconds(run)


def bare_distances(subject):
    """Return the seconds of a pass over 500 examples, and of the inner products that label variation needs."""
    network = subject.network
    last = network.layers[-(len(network.layers) // 3 + 1) :]
    positions = sorted({source for sources, _ in last for source in sources})
    inputs = subject.sample(500).inputs

    def run():
        for found in network.outputs(inputs, positions):
            rows = tf.reshape(found, (len(found), -1))
            tf.matmul(rows, rows, transpose_b=True).numpy()

    run()
    return seconds(run)


def bare_svd(subject, variant):
    if variant == "matrix":
        return seconds(lambda: [np.linalg.svd(kernel.matrix, compute_uv=False) for kernel in subject.folded.kernels])
    network = subject.folded
    spectra = [
        np.fft.fft2(kernel.array, s=network.shape(network.nodes[kernel.node].sources[0])[:2], axes=(0, 1))
        if kernel.array.ndim == 4
        else kernel.matrix
        for kernel in network.kernels
    ]
    return seconds(lambda: [np.linalg.svd(spectrum, compute_uv=False) for spectrum in spectra], repeats=1)


def report(model):
    images = np.random.default_rng(0).random((SAMPLES + 500, *model.input_shape[1:]), np.float32)
    data = tf.data.Dataset.from_tensor_slices((images, random_labels(images)))
    found = {}
    with baselines.sharing():
        subject = subject_of(model, data)
        sample = subject.sample(SAMPLES)
        subject.network.outputs(sample.inputs)
        forward = seconds(lambda: subject.network.outputs(sample.inputs))
        found |= {name: (timed(name, model, data), number * forward) for name, number in FORWARD.items()}
        found["wcv"] = (timed("wcv", model, data), bare_distances(subject))
        gradient = bare_gradient(subject.folded, sample)
        found |= {name: (timed(name, model, data), number * gradient) for name, number in GRADIENT.items()}
        for name, variant in zip(SPECTRAL, ("matrix", "fft"), strict=True):
            floor = bare_svd(subject, variant)
            found[name] = (seconds(lambda name=name: baselines.load(name)(model, data), repeats=1), floor)
    return found


AGAIN = {
    f"{name}{', batch norm' if norm else ''}": functools.partial(make, norm=norm)
    for name, make in (("demo", SMALL), ("VGG", LARGE))
    for norm in (False, True)
}


def random_labels(images):
    return np.random.default_rng(1).integers(0, 10, len(images)).astype(np.int32)


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
    images = np.random.default_rng(0).random((12_000, 28, 28, 1), np.float32)
    return tf.keras.Sequential([tf.keras.Input((28, 28, 1)), *convolutions, *dense]), images, random_labels(images)


def demo(task):
    """A network of a shipped task, and as many random images as the task has, with labels."""
    model = read_model(TASKS / task / "model_21")
    images = np.random.default_rng(0).random((320, *model.input_shape[1:]), np.float32)
    return model, images, random_labels(images)


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


def timed_on_new(name, model, images, labels):
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


def report_on_new(model, images, labels):
    """Return measure -> seconds of the measure called before it, of the measure itself, and of its passes alone."""
    labels = answered(model, images, labels)
    floors = bare(model, images[:LOOKED_AT], labels[:LOOKED_AT])
    return {
        name: (*timed_on_new(name, model, images, labels), number * floors[there_and_back])
        for name, (there_and_back, number) in PASSES.items()
    }


NEW = {
    "MNIST size": mnist_size,
    **{task: functools.partial(demo, task) for task in ("digits_vgg", "digits_fcn_bn", "digits_nin")},
}


if __name__ == "__main__":
    if sys.argv[1] == "again":
        running.FEW = 0
        found = {kind: report(make()) for kind, make in AGAIN.items()}
    else:
        found = {kind: report_on_new(*make()) for kind, make in NEW.items()}
    print(json.dumps(found))
