"""Small image tasks for the protocols, written without a framework: two halves, digits on a torus, and bright rows."""

import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.datasets import load_digits
from sklearn.neural_network import MLPClassifier
from throwaway import HYPERPARAMETERS, model_configs, write_json, write_shards, write_weights

from harness.format.architecture import layer_list
from harness.format.layout import CONFIG, REFERENCE, TEST, TRAIN, WEIGHTS

Data = tuple[np.ndarray, np.ndarray]


class Network(NamedTuple):
    """The layers of a network as in config.json, and the weights of layers that have weights."""

    layers: list[dict[str, Any]]
    weights: list[list[np.ndarray]]

    @classmethod
    def dense(cls, *weights: list[np.ndarray]) -> "Network":
        """Return a network of dense layers with these weights, and with ReLU before the last."""
        units = [{"layer_name": "Dense", "units": len(bias)} for _, bias in weights]
        return cls(
            [{"layer_name": "Flatten"}, *(one | {"activation": "relu"} for one in units[:-1]), units[-1]], [*weights]
        )

    def predict(self, images: np.ndarray) -> np.ndarray:
        (kernel, bias), (last_kernel, last_bias) = self.weights
        return np.maximum(images.reshape(len(images), -1) @ kernel + bias, 0) @ last_kernel + last_bias


def write_task(directory: Path, networks: Sequence[Network], train: Data, test: Data, name: str = "torus") -> Path:
    task = directory / name
    for number, network in enumerate(networks):
        model = task / f"model_{number}"
        write_json(model / CONFIG, layer_list(network.layers, train[0].shape[1:]))
        write_weights(model / WEIGHTS, [[array.astype(np.float32) for array in pair] for pair in network.weights])
    for part, data in ((TRAIN, train), (TEST, test)):
        write_shards(task / part, *data, 2)
    return task


def image_task(directory: Path, n_train: int = 20) -> Path:
    """Write a task of eight linear networks, with equally many images of each class; return the task's directory.

    Images of class 1 are bright in the left half, images of class 0 in the right half. model_0 always predicts class 0.
    The others are right on every image; the noise of their kernels grows with their number.
    """
    left = (np.arange(64) % 8 < 4).astype(float)
    networks = [Network.dense([np.zeros((64, 2)), np.array([1.0, 0.0])])]
    for number in range(1, 8):
        noise = np.random.default_rng(number).normal(size=(64, 2))
        networks.append(Network.dense([np.stack([1 - left, left], axis=1) + 0.02 * number * noise, np.zeros(2)]))
    data = []
    for seed in (0, 1):
        labels = np.arange(n_train, dtype=np.int32) % 2
        images = np.random.default_rng(seed).uniform(0, 0.3, (n_train, 8, 8, 1)).astype(np.float32)
        images[labels == 1, :, :4] += 0.7
        images[labels == 0, :, 4:] += 0.7
        data.append((images, labels))
    task = write_task(directory, networks, *data, name="pictures")
    cells = [dict(zip(HYPERPARAMETERS, cell, strict=True)) for cell in itertools.product(*HYPERPARAMETERS.values())]
    write_json(task / REFERENCE, model_configs(cells, [0.1 + 0.05 * (number * 5 % 8) for number in range(8)]))
    return task


def torus_digits(n_images: int, *, first: int = 0, seed: int = 0) -> Data:
    """Return digits at random positions on a torus, shape (n_images, 8, 8, 1) with values in [0, 1], and their labels.

    Further shifts do not change their distribution.
    """
    random = np.random.default_rng(seed)
    digits = load_digits()
    chosen = np.random.default_rng(0).permutation(len(digits.images))[first : first + n_images]
    images = [np.roll(digits.images[i] / 16, random.integers(0, 8, 2), axis=(0, 1)) for i in chosen]
    return np.array(images, np.float32)[..., None], digits.target[chosen].astype(np.int32)


def fitted_network(data: Data, *, width: int = 64, seed: int = 0) -> Network:
    images, labels = data
    model = MLPClassifier((width,), solver="lbfgs", alpha=0, max_iter=300, random_state=seed)
    model.fit(images.reshape(len(images), -1), labels)
    assert model.score(images.reshape(len(images), -1), labels) == 1
    return Network.dense(*map(list, zip(model.coefs_, model.intercepts_, strict=True)))


SIDE, N_SEEN, N_CLASSES = 12, 3, 5
WIDTHS = (4, 8, 16)


def make_images(n_per_class: int, seed: int, n_classes: int = N_CLASSES) -> Data:
    """Return noisy images with one bright row per class, uint8 (n, SIDE, SIDE), and their labels."""
    random = np.random.default_rng(seed)
    labels = np.tile(np.arange(n_classes), n_per_class)
    images = random.integers(0, 120, (len(labels), SIDE, SIDE))
    for image, label in zip(images, labels, strict=True):
        image[2 * label + random.integers(0, 2)] += 120
    return images.astype(np.uint8), labels


def make_data(file: Path, **replaced: Any) -> Path:
    """Write images of all classes as an .npz file; `replaced` arrays take the place of arrays of the same name."""
    arrays = dict(zip(("x_train", "y_train"), make_images(12, 0), strict=True))
    arrays |= dict(zip(("x_test", "y_test"), make_images(6, 1), strict=True))
    np.savez(file, **(arrays | replaced))
    return file


def make_backbones(directory: Path, name: str = "rows", side: int = SIDE) -> Path:
    """Write a task of dense networks of increasing size with random weights; return `directory`.

    Two more networks cannot be probed: the hidden layer of model_3 is constant, and model_4 is a convolution.
    """
    random, networks = np.random.default_rng(2), []
    for width in WIDTHS:
        first, last = random.normal(0, 0.1, (side * side, width)), random.normal(0, 0.1, (width, N_SEEN))
        networks.append(Network.dense([first, np.zeros(width)], [last, np.zeros(N_SEEN)]))
    constant, last = np.zeros((side * side, 4)), random.normal(size=(4, N_SEEN))
    networks.append(Network.dense([constant, np.zeros(4)], [last, np.zeros(N_SEEN)]))
    convolution = {"layer_name": "Conv2D", "filters": N_SEEN, "kernel_size": [1, 1]}
    kernel = random.normal(size=(1, 1, 1, N_SEEN))
    networks.append(Network([convolution, {"layer_name": "GlobalAveragePooling2D"}], [[kernel, np.zeros(N_SEEN)]]))
    images, labels = make_images(12, 0)
    inputs = images[labels < N_SEEN, :side, :side, np.newaxis].astype(np.float32) / np.float32(255)
    data = inputs, labels[labels < N_SEEN].astype(np.int32)
    write_task(directory, networks, data, data, name)
    return directory
