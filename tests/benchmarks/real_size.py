"""Writes a task of the competition's size in half a minute: images and weights are random, nothing is trained.

    python -m tests.benchmarks.real_size DIRECTORY [IMAGES, default 50000]

The task has images of 32 x 32 x 3 in ten shards, and eight networks like VGG with 0.9 to 6.3 million weights, one for
each combination of three hyperparameters.
"""

import itertools
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from harness.format.architecture import layer_list, write_config
from harness.format.layout import CONFIG, INITIAL_WEIGHTS, REFERENCE, TEST, TRAIN, WEIGHTS
from harness.format.reference import reference_entry, write_reference
from harness.format.shards import write_shards
from harness.format.weights import NamedWeights, write_weights

IMAGE, N_CLASSES, N_SHARDS = (32, 32, 3), 10, 10
HYPERPARAMETERS: dict[str, list[Any]] = {"depth": [2, 3], "width": [32, 88], "units": [320, 480]}
Layer = dict[str, Any]


def make_task(directory: Path, n_train: int = 50_000, n_test: int = 1_000) -> Path:
    task, random = directory / "real_size", np.random.default_rng(0)
    names, entries = list(HYPERPARAMETERS), {}
    for number, values in enumerate(itertools.product(*HYPERPARAMETERS.values())):
        cell = dict(zip(names, values, strict=True))
        model, layers = task / f"model_{number}", network(**cell)
        model.mkdir(parents=True)
        write_config(model / CONFIG, layer_list(layers, IMAGE))
        for file in (WEIGHTS, INITIAL_WEIGHTS):
            write_weights(model / file, list(weights(layers, random)))
        accuracies = {"train_acc": 1.0, "test_acc": float(random.uniform(0.6, 0.9))}
        entries[str(number)] = reference_entry(HYPERPARAMETERS, cell, accuracies)
    write_reference(task / REFERENCE, entries)
    prototypes = random.normal(size=(N_CLASSES, *IMAGE)).astype(np.float32)
    for part, n_images, n_shards in ((TRAIN, n_train, N_SHARDS), (TEST, n_test, 1)):
        labels = random.integers(0, N_CLASSES, n_images)
        images = random.standard_normal((n_images, *IMAGE), np.float32)
        images += prototypes[labels]
        np.clip(images / 8 + 0.5, 0, 1, out=images)  # some measures take pixels in [0, 1] alone
        write_shards(task / part, images, labels, n_shards)
    return task


def network(depth: int, width: int, units: int) -> list[Layer]:
    """Return three blocks of `depth` convolutions, each block twice as wide as the last, and two dense layers."""
    layers: list[Layer] = []
    for block in range(3):
        convolution = {"layer_name": "Conv2D", "filters": width << block, "kernel_size": [3, 3], "padding": "same"}
        layers += [{**convolution, "activation": "relu"} for _ in range(depth)]
        layers.append({"layer_name": "MaxPooling2D", "pool_size": [2, 2], "strides": [2, 2]})
    dense = {"layer_name": "Dense", "units": units, "activation": "relu"}
    return [*layers, {"layer_name": "Flatten"}, dense, {"layer_name": "Dense", "units": N_CLASSES}]


def weights(layers: list[Layer], random: np.random.Generator) -> Iterator[NamedWeights]:
    """Yield the kernel and bias of each layer; their scale keeps the size of activations."""
    size, channels = IMAGE[0], IMAGE[2]
    for number, layer in enumerate(layers):
        kind = layer["layer_name"]
        if kind == "MaxPooling2D":
            size //= 2
        elif kind == "Flatten":
            channels *= size**2
        else:
            outputs = layer["filters" if kind == "Conv2D" else "units"]
            shape = (3, 3, channels, outputs) if kind == "Conv2D" else (channels, outputs)
            kernel = random.standard_normal(shape, np.float32) * np.float32(np.sqrt(2 / np.prod(shape[:-1])))
            yield f"layer_{number}", [("kernel", kernel), ("bias", np.zeros(outputs, np.float32))]
            channels = outputs


if __name__ == "__main__":
    print(make_task(Path(sys.argv[1]), *map(int, sys.argv[2:])))
