"""Small image tasks for the protocols that change images: written in milliseconds, without a framework."""

import itertools
from collections.abc import Callable
from pathlib import Path

import numpy as np
from throwaway import write_json, write_shards, write_weights

from harness.format.architecture import layer_list
from harness.format.layout import CONFIG, REFERENCE, TEST, TRAIN, WEIGHTS
from harness.format.reference import reference_entry

HYPERPARAMETERS = {"augmentation_level": [0.0, 1.0], "depth": [1, 2], "width": [4, 6]}
N_CLASSES = 2

#: Kernel (pixels, classes) and bias (classes,) of a linear network, for the model of a number.
Linear = Callable[[int, int], tuple[np.ndarray, np.ndarray]]


def image_task(directory: Path, linear: Linear, *, side: int = 8, channels: int = 1, n_train: int = 20) -> Path:
    """Write a task of eight linear networks, with equally many images of each class; return the task's directory.

    Images of class 1 are bright in the left half, images of class 0 in the right half.
    """
    task = directory / "pictures"
    cells = [dict(zip(HYPERPARAMETERS, cell, strict=True)) for cell in itertools.product(*HYPERPARAMETERS.values())]
    for number in range(len(cells)):
        layers = [{"layer_name": "Flatten"}, {"layer_name": "Dense", "units": N_CLASSES}]
        write_json(task / f"model_{number}" / CONFIG, layer_list(layers, (side, side, channels)))
        kernel, bias = linear(number, side * side * channels)
        arrays = [kernel.astype(np.float32), bias.astype(np.float32)]
        write_weights(task / f"model_{number}" / WEIGHTS, [[], arrays], ["flatten", "dense"])
    for part, seed in ((TRAIN, 0), (TEST, 1)):
        random = np.random.default_rng(seed)
        labels = np.arange(n_train, dtype=np.int32) % N_CLASSES
        images = random.uniform(0, 0.3, (n_train, side, side, channels)).astype(np.float32)
        images[labels == 1, :, : side // 2] += 0.7
        images[labels == 0, :, side // 2 :] += 0.7
        write_shards(task / part, images, labels, 2)
    metrics = [{"train_acc": 1.0, "test_acc": 0.9 - 0.05 * (number * 5 % 8)} for number in range(len(cells))]
    entries = zip(cells, metrics, strict=True)
    write_json(task / REFERENCE, {str(n): reference_entry(HYPERPARAMETERS, *entry) for n, entry in enumerate(entries)})
    return task


def left_against_right(number: int, n_pixels: int) -> tuple[np.ndarray, np.ndarray]:
    """Return kernel and bias of a network that is right on every image; the kernel's noise grows with `number`."""
    side = int(n_pixels**0.5)
    left = (np.arange(n_pixels) % side < side // 2).astype(float)
    kernel = np.stack([1 - left, left], axis=1)
    return kernel + 0.02 * number * np.random.default_rng(number).normal(size=kernel.shape), np.zeros(N_CLASSES)


def always_class_0(number: int, n_pixels: int) -> tuple[np.ndarray, np.ndarray]:
    """Return kernel and bias of a network that always predicts class 0."""
    return np.zeros((n_pixels, N_CLASSES)), np.array([1.0, 0.0])
