"""Prints seconds of measures and of the passes that they need.

This program loads TensorFlow, so test_measures.py runs it in a process of its own.

A measure is called on one subject with two seeds. The first call builds and compiles functions, and only the second is
timed: the benchmark compares the work on examples, not the second or so that compiling takes. All functions are
compiled, as in runs of more than a few batches.
"""

import functools
import itertools
import json
import sys

import numpy as np
import tensorflow as tf

import baselines
from baselines.core.subject import subject_of
from baselines.network import network as running
from tests.benchmarks.stopwatch import seconds

layers = tf.keras.layers
running.FEW = 0
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
    rng = np.random.default_rng(0)
    images = rng.random((SAMPLES + 500, *model.input_shape[1:]), np.float32)
    data = tf.data.Dataset.from_tensor_slices((images, rng.integers(0, 10, len(images)).astype(np.int32)))
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


NETWORKS = {
    "demo": (SMALL, False),
    "demo, batch norm": (SMALL, True),
    "VGG": (LARGE, False),
    "VGG, batch norm": (LARGE, True),
}

if __name__ == "__main__":
    chosen = sys.argv[1:] or NETWORKS  # names of networks
    models = {kind: make(norm=norm) for kind, (make, norm) in NETWORKS.items() if kind in chosen}
    print(json.dumps({kind: report(model) for kind, model in models.items()}), file=sys.stdout)
