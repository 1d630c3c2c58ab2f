"""Writes images for recipes: shifted on a torus, or a part of Fashion-MNIST with all of its classes."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from harness.corpus.datasets import Data, load_data
from harness.corpus.recipe import DataRecipe
from tests.studies.science.settings import DIGITS, Setting

#: Pixels by which the side of a torus exceeds that of the images.
MARGIN = 4

#: Number of training images on the torus; the others are test images.
N_TRAIN = 1000

#: Of Fashion-MNIST: number of images on the torus in all and their side; training and test images of the testbed.
N_ON_TORUS, SIDE_ON_TORUS, OF_TESTBED = 3000, 12, (1000, 500)

Images = NDArray[np.float32]
Labels = NDArray[np.int32]


def write_torus(file: Path, setting: Setting) -> None:
    """Write images, each shifted by a random distance, uniform over the torus."""
    images, labels = _digits() if setting is DIGITS else _fashion()
    random = np.random.default_rng(0)
    order = random.permutation(len(labels))
    side = images.shape[1] + MARGIN
    placed = np.zeros((len(order), side, side, 1), np.float32)
    placed[:, : images.shape[1], : images.shape[2], 0] = images[order]
    shifts = random.integers(side, size=(len(order), 2))
    placed = np.stack([np.roll(image, shift, axis=(0, 1)) for image, shift in zip(placed, shifts, strict=True)])
    train, test = slice(0, N_TRAIN), slice(N_TRAIN, None)
    labels = labels[order].astype(np.int32)
    np.savez(file, x_train=placed[train], y_train=labels[train], x_test=placed[test], y_test=labels[test])


def write_testbed(file: Path) -> None:
    """Write a part of Fashion-MNIST with all classes: with all images, the testbed would take hours."""
    n_train, n_test = OF_TESTBED
    data = _load({"n_train": n_train, "n_test": n_test})
    np.savez(
        file,
        x_train=data.train_inputs, y_train=data.train_labels, x_test=data.test_inputs, y_test=data.test_labels,
    )  # fmt: skip


def _digits() -> tuple[Images, Labels]:
    """Return all digits, shape (1797, 8, 8), and their labels."""
    from sklearn.datasets import load_digits

    digits = load_digits()
    return (digits.images / 16).astype(np.float32), digits.target.astype(np.int32)


def _fashion() -> tuple[Images, Labels]:
    """Return some images of Fashion-MNIST, reduced in size, and their labels."""
    data = _load({"n_train": N_ON_TORUS, "resize": SIDE_ON_TORUS})
    return data.train_inputs[..., 0], data.train_labels


def _load(keys: dict[str, int]) -> Data:
    """Load Fashion-MNIST with these keys of a recipe's `[data]`."""
    return load_data(DataRecipe.model_validate({"source": "fashion_mnist", **keys}), Path())
