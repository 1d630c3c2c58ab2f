"""Image tasks with small networks that classify only their training set correctly.

The images are digits of 8 x 8 pixels, shifted at random on a torus: further shifts do not change their distribution.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.datasets import load_digits
from sklearn.neural_network import MLPClassifier
from throwaway import write_json, write_shards, write_weights

from harness.format.architecture import layer_list
from harness.format.layout import CONFIG, TEST, TRAIN, WEIGHTS

SHAPE = (8, 8, 1)

Data = tuple[np.ndarray, np.ndarray]


def torus_digits(n_images: int, *, first: int = 0, seed: int = 0) -> Data:
    """Return digits at random positions, shape (n_images, 8, 8, 1) with values in [0, 1], and their labels."""
    random = np.random.default_rng(seed)
    digits = load_digits()
    chosen = np.random.default_rng(0).permutation(len(digits.images))[first : first + n_images]
    images = [np.roll(digits.images[i] / 16, random.integers(0, 8, 2), axis=(0, 1)) for i in chosen]
    return np.array(images, np.float32)[..., None], digits.target[chosen].astype(np.int32)


class Network(NamedTuple):
    """The layers of a network as in config.json, and the weights of layers that have weights."""

    layers: list[dict[str, Any]]
    weights: list[list[np.ndarray]]

    def predict(self, images: np.ndarray) -> np.ndarray:
        """Return the logits of a network without a softmax."""
        (kernel, bias), (last_kernel, last_bias) = self.weights
        return np.maximum(images.reshape(len(images), -1) @ kernel + bias, 0) @ last_kernel + last_bias

    def with_softmax(self) -> "Network":
        return Network([*self.layers, {"layer_name": "Softmax"}], self.weights)

    def times(self, factor: float) -> "Network":
        return Network(self.layers, [[array * np.float32(factor) for array in pair] for pair in self.weights])


def fitted_network(data: Data, *, width: int = 64, seed: int = 0) -> Network:
    """Return a network of two dense layers that classifies all data correctly."""
    images, labels = data
    model = MLPClassifier((width,), solver="lbfgs", alpha=0, max_iter=300, random_state=seed)
    model.fit(images.reshape(len(images), -1), labels)
    assert model.score(images.reshape(len(images), -1), labels) == 1
    pairs = zip(model.coefs_, model.intercepts_, strict=True)
    hidden = {"layer_name": "Dense", "units": width, "activation": "relu"}
    layers = [{"layer_name": "Flatten"}, hidden, {"layer_name": "Dense", "units": 10}]
    return Network(layers, [[kernel.astype(np.float32), bias.astype(np.float32)] for kernel, bias in pairs])


def write_task(
    directory: Path, networks: Sequence[Network], train: Data, test: Data | None, name: str = "torus"
) -> Path:
    """Write a task without reference data; return its directory."""
    task = directory / name
    for number, network in enumerate(networks):
        model = task / f"model_{number}"
        write_json(model / CONFIG, layer_list(network.layers, train[0].shape[1:]))
        write_weights(model / WEIGHTS, network.weights)
    for part, data in ((TRAIN, train), (TEST, test)):
        if data is not None:
            write_shards(task / part, *data, 2)
    return task
