"""Answers with the measures of this library, and writes the networks and data that peers read.

Before a timed call, the network is analysed, its functions are compiled, and training data are read. No other results
of an earlier call are cached.
"""

import sys
from pathlib import Path

import numpy as np
import tensorflow as tf

import baselines
from baselines.core.retained import Retained
from baselines.core.subject import RETAINED_BYTES, share, subject_of
from tests.studies.peers.answering import answer

layers = tf.keras.layers

#: Weights -> input, channels of convolutions of 3 x 3 that a pooling follows, and units of the hidden layer.
NETWORKS = {"118,498": ((28, 28, 1), (16, 32), 72), "5,961,408": ((32, 32, 3), (32, 64, 128), 2850)}


def trained(shape, channels, units, number=2048):
    """Return a shortly trained network, and its training data: noisy prototypes, a fifth of them with random labels."""
    tf.keras.utils.set_random_seed(0)
    convolutions = [
        part for n in channels for part in (layers.Conv2D(n, 3, padding="same", activation="relu"), layers.MaxPool2D())
    ]
    dense = [layers.Flatten(), layers.Dense(units, "relu"), layers.Dense(10)]
    model = tf.keras.Sequential([tf.keras.Input(shape), *convolutions, *dense])
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 10, number).astype(np.int32)
    images = rng.normal(size=(10, *shape))[labels] / 4 + rng.normal(size=(number, *shape))
    labels = np.where(rng.random(number) < 0.2, rng.integers(0, 10, number), labels).astype(np.int32)
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(tf.keras.optimizers.Adam(3e-4), loss)
    model.fit(images.astype(np.float32), labels, 64, epochs=2, verbose=0)
    return model, images.astype(np.float32), labels


def write(file, model, images, labels):
    """Write kernels and biases in PyTorch's order, and the data."""
    shape, arrays = None, []
    for layer in model.layers:
        if isinstance(layer, layers.Flatten):
            shape = layer.input.shape[1:]
        for array in layer.get_weights():
            if array.ndim == 4:
                arrays.append(array.transpose(3, 2, 0, 1))
            elif array.ndim == 2 and shape:
                arrays.append(array.reshape(*shape, -1).transpose(3, 2, 0, 1).reshape(array.shape[::-1]))
                shape = None
            else:
                arrays.append(array.T)
    np.savez(file, *arrays, images=images.transpose(0, 3, 1, 2), labels=labels)


if __name__ == "__main__":
    share()
    subjects = {}
    for network, description in NETWORKS.items():
        model, images, labels = trained(*description)
        subjects[network] = subject_of(model, tf.data.Dataset.from_tensor_slices((images, labels)))

    def compute(network, name, n_samples):
        subject = subjects[network]
        subject.found = Retained(RETAINED_BYTES)
        parameters = {"n_samples": n_samples} if n_samples else {}
        return baselines.load(name)(subject.model, subject.dataset, **parameters)

    def written(network, n_samples):
        sample = subjects[network].sample(n_samples)
        write(Path(sys.argv[1]) / f"{network}, {n_samples}.npz", subjects[network].model, sample.inputs, sample.labels)

    answer(compute=compute, write=written)
