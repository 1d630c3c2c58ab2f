"""A tiny task of backbones on images of three classes, and a dataset with two more classes."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from harness.format.architecture import layer_list, write_config
from harness.format.layout import CONFIG, TEST, TRAIN, WEIGHTS
from harness.format.shards import write_shards
from harness.format.weights import write_weights

SIDE, N_SEEN, N_CLASSES = 12, 3, 5
WIDTHS = (4, 8, 16)


def make_images(n_per_class: int, seed: int, n_classes: int = N_CLASSES) -> tuple[np.ndarray, np.ndarray]:
    """Return noisy images with one bright row per class, uint8 (n, SIDE, SIDE), and their labels."""
    random = np.random.default_rng(seed)
    labels = np.tile(np.arange(n_classes), n_per_class)
    images = random.integers(0, 120, (len(labels), SIDE, SIDE))
    for image, label in zip(images, labels, strict=True):
        image[2 * label + random.integers(0, 2)] += 120
    return images.astype(np.uint8), labels


def make_data(file: Path, **replaced: Any) -> Path:
    """Write the dataset as an .npz file; `replaced` arrays take the place of arrays of the same name."""
    arrays = dict(zip(("x_train", "y_train"), make_images(12, 0), strict=True))
    arrays |= dict(zip(("x_test", "y_test"), make_images(6, 1), strict=True))
    np.savez(file, **(arrays | replaced))
    return file


def make_backbones(directory: Path, name: str = "rows", side: int = SIDE, more: Sequence[str] = ()) -> Path:
    """Write a task of dense networks of increasing size with random weights; return `directory`.

    `more` adds models that cannot be probed: `constant`, `convolution`.
    """
    random, task = np.random.default_rng(2), directory / name
    for number, width in enumerate(WIDTHS):
        kernels = [(side * side, width), (width, N_SEEN)]
        _write(task / f"model_{number}", _dense(width), [random.normal(0, 0.1, shape) for shape in kernels], side)
    if "constant" in more:
        kernels = [np.zeros((side * side, 4)), random.normal(size=(4, N_SEEN))]
        _write(task / "model_3", _dense(4), kernels, side)
    if "convolution" in more:
        layers = [
            {"layer_name": "Conv2D", "filters": N_SEEN, "kernel_size": [1, 1]}, {"layer_name": "GlobalAveragePooling2D"}
        ]  # fmt: skip
        _write(task / "model_4", layers, [random.normal(size=(1, 1, 1, N_SEEN))], side)
    images, labels = make_images(12, 0)
    if side != SIDE:
        images = np.zeros((len(labels), side, side), np.uint8)
    kept = labels < N_SEEN
    for part in (TRAIN, TEST):
        inputs = images[kept][..., np.newaxis].astype(np.float32) / np.float32(255)
        write_shards(task / part, inputs, labels[kept].astype(np.int32), 1)
    return directory


def _dense(width: int) -> list[dict[str, Any]]:
    return [
        {"layer_name": "Flatten"},
        {"layer_name": "Dense", "units": width, "activation": "relu"},
        {"layer_name": "Dense", "units": N_SEEN},
    ]


def _write(directory: Path, layers: list[dict[str, Any]], kernels: Sequence[np.ndarray], side: int) -> None:
    directory.mkdir(parents=True)
    write_config(directory / CONFIG, layer_list(layers, (side, side, 1)))
    names = [f"layer_{number}" for number in range(len(kernels))]
    named = [
        (name, [("kernel", kernel.astype(np.float32)), ("bias", np.zeros(kernel.shape[-1], np.float32))])
        for name, kernel in zip(names, kernels, strict=True)
    ]
    write_weights(directory / WEIGHTS, named)
