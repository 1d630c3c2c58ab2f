"""Reads datasets of images: from libraries, from a directory of images, or from the user's arrays."""

import gzip
import math
import os
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from harness.errors import UserError
from harness.extras import install
from harness.format.arrays import open_npz
from harness.format.files import visible_directories
from harness.format.images import MAX_BYTES, SUFFIXES, images_in
from harness.reading import open_regular, read_regular
from harness.text import printable
from scoring.streams import stream

if TYPE_CHECKING:
    from harness.corpus.recipe import DataRecipe

#: Maximum size in bytes of an array in MNIST's format; the images of Fashion-MNIST have 47 MB.
MAX_ARRAY = 1024**3

#: First bytes of an array in MNIST's format: the third is the type of numbers, bytes. The number of axes follows.
_BYTES = b"\0\0\x08"

#: Part of a dataset -> its name in MNIST's file names.
PARTS = {"train": "train", "test": "t10k"}

Array = NDArray[Any]

_GOOGLE = "https://storage.googleapis.com/tensorflow/tf-keras-datasets/"
_TORONTO = "https://www.cs.toronto.edu/~kriz/"
_IDX = "{train,t10k}-{images-idx3,labels-idx1}-ubyte.gz"

#: Name of a dataset in Keras -> number of classes, URL, and path in Keras' directory `datasets`.
KERAS = {
    "mnist": (10, f"{_GOOGLE}mnist.npz", "mnist.npz"),
    "fashion_mnist": (10, _GOOGLE + _IDX, f"fashion-mnist/{_IDX}"),
    "cifar10": (10, f"{_TORONTO}cifar-10-python.tar.gz", "cifar-10-batches-py-target_archive"),
    "cifar100": (100, f"{_TORONTO}cifar-100-python.tar.gz", "cifar-100-python-target_archive"),
}

#: Name of a dataset that Debian packages -> its directory, and the package.
INSTALLED = {"fashion_mnist": (Path("/usr/share/datasets/fashion-mnist"), "dataset-fashion-mnist")}

#: Name of a source in a recipe -> its name in TensorFlow Datasets, and number of classes.
TENSORFLOW_DATASETS = {
    "svhn": ("svhn_cropped", 10),
    "oxford_flowers102": ("oxford_flowers102", 102),
    "oxford_iiit_pet": ("oxford_iiit_pet", 37),
}

_NPZ = ("x_train", "y_train", "x_test", "y_test")


def read_pair(directory: Path, part: str) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Return images (N, H, W) and labels (N,) from MNIST's files in a directory; `part` is `train` or `test`."""
    files = [directory / f"{PARTS[part]}-{kind}-ubyte.gz" for kind in ("images-idx3", "labels-idx1")]
    images, labels = (_read(file, n_axes) for file, n_axes in zip(files, (3, 1), strict=True))
    if len(images) != len(labels):
        raise UserError("labels", file=files[1], expected=f"{len(images)}, one for each image", found=len(labels))
    return images, labels


def _read(file: Path, n_axes: int) -> NDArray[np.uint8]:
    try:
        with open_regular(file, links=True) as stream, gzip.open(stream) as unpacked:
            start, declared = unpacked.read(4), unpacked.read(4 * n_axes)
            shape = tuple(np.frombuffer(declared, ">u4").tolist()) if len(declared) == 4 * n_axes else ()
            content = unpacked.read(min(math.prod(shape), MAX_ARRAY) + 1)
    except (OSError, EOFError, zlib.error) as error:
        found = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise UserError("cannot be read", file=file, expected="a file compressed by gzip", found=found) from error
    if start != _BYTES + bytes([n_axes]) or not shape or len(content) != math.prod(shape):
        expected = f"bytes in an array of {n_axes} axes, in the format of MNIST"
        raise UserError("damaged", file=file, expected=expected, found=f"{len(content)} bytes of other content")
    return np.frombuffer(content, np.uint8).reshape(shape)


class EncodedImages:
    """Images as files or bytes (PNG, JPEG or BMP). Indexing decodes an image: uint8, (H, W, C)."""

    def __init__(self, items: Sequence[Path | bytes]) -> None:
        self._items = items

    def __len__(self) -> int:
        return len(self._items)

    def at(self, positions: Sequence[int]) -> "EncodedImages":
        """Return the images at these positions, without decoding them."""
        return EncodedImages([self._items[position] for position in positions])

    def __getitem__(self, position: int) -> Array:
        import tensorflow as tf

        item = self._items[position]
        content = read_regular(item, MAX_BYTES, links=True) if isinstance(item, Path) else item
        try:
            return np.asarray(tf.io.decode_image(content, expand_animations=False))
        except tf.errors.InvalidArgumentError as error:
            file = item if isinstance(item, Path) else None
            raise UserError("not an image", file=file, expected="PNG, JPEG or BMP") from error


@dataclass(frozen=True)
class Split:
    """Training or test images and their labels."""

    images: Array | EncodedImages  #: N images, (H, W) or (H, W, C), uint8 or floating-point in [0, 1]
    labels: NDArray[np.int32]  #: (N,), from 0

    def at(self, positions: NDArray[np.intp]) -> "Split":
        """Return the examples at `positions`."""
        if isinstance(self.images, EncodedImages):
            return Split(self.images.at(positions.tolist()), self.labels[positions])
        return Split(self.images[positions], self.labels[positions])


@dataclass(frozen=True)
class DistributedDataset:
    """A dataset with training images and, if its source has them, test images."""

    train: Split
    test: Split | None  #: None if the source does not say which images are test images
    n_classes: int


def read_source(recipe: "DataRecipe", base: Path) -> DistributedDataset:
    """Read the dataset that a recipe names. Relative paths in the recipe start at `base`.

    Raise `UserError` if the dataset cannot be found or downloaded, a library is missing, or files are damaged.
    """
    if recipe.source in KERAS:
        return read_keras(recipe.source)
    if recipe.source in TENSORFLOW_DATASETS:
        return _tensorflow_datasets(recipe.source)
    if recipe.source == "digits":
        return _digits()
    assert recipe.path is not None  # the recipe was checked
    path = base / recipe.path
    if recipe.source == "npz":
        return _npz(path)
    return _directory(path, recipe.seed)


def _digits() -> DistributedDataset:
    from sklearn.datasets import load_digits

    digits = load_digits()
    images = (digits.images / 16.0).astype(np.float32)[..., np.newaxis]
    return DistributedDataset(Split(images, digits.target.astype(np.int32)), None, 10)


def read_keras(name: str) -> DistributedDataset:
    """Read a dataset of Keras: from the system, Keras' cache or the network. Raise `UserError` if it is not found."""
    n_classes, url, path = KERAS[name]
    directory, package = INSTALLED.get(name, (None, None))
    home = os.environ.get("KERAS_HOME", "~/.keras")
    original = Path(home).expanduser() / "datasets" / "mnist"  # MNIST's own files; Keras itself has only an .npz
    if name == "mnist" and original.is_dir():
        directory = original
    if directory is not None and directory.is_dir():
        pairs = (read_pair(directory, part) for part in PARTS)
        train, test = (Split(images, labels.astype(np.int32)) for images, labels in pairs)
        return DistributedDataset(train, test, n_classes)
    import keras

    try:
        train, test = getattr(keras.datasets, name).load_data()
    except Exception as error:  # downloads raise plain Exception, damaged files any type
        remedy = f"download {url} where that is possible and save it here as {home}/datasets/{path}"
        if package is not None:
            remedy = f"install Debian's package {package}, or {remedy}"
        raise _not_loaded(name, error, remedy) from error
    parts = [Split(images, labels.reshape(-1).astype(np.int32)) for images, labels in (train, test)]
    return DistributedDataset(parts[0], parts[1], n_classes)


def _tensorflow_datasets(name: str) -> DistributedDataset:
    try:
        import tensorflow_datasets as tfds
    except ImportError as error:
        raise UserError(
            f"dataset {name}", expected="TensorFlow Datasets", found="none", remedy=install("datasets")
        ) from error

    their_name, n_classes = TENSORFLOW_DATASETS[name]
    try:
        parts = tfds.load(their_name, split=["train", "test"], decoders={"image": tfds.decode.SkipDecoding()})
        examples = [list(tfds.as_numpy(part)) for part in parts]
    except Exception as error:  # network, file system and library raise errors of many types
        load = f"python -c \"import tensorflow_datasets as tfds; tfds.load('{their_name}')\""
        copy = f"copy its ~/tensorflow_datasets/{their_name} to the same path here"
        raise _not_loaded(name, error, f"run {load} where it can be downloaded and {copy}") from error
    train, test = (
        Split(EncodedImages([e["image"] for e in part]), np.array([e["label"] for e in part], np.int32))
        for part in examples
    )
    return DistributedDataset(train, test, n_classes)


def _not_loaded(name: str, error: Exception, remedy: str) -> UserError:
    found = str(error).strip().split("\n")[0] or type(error).__name__
    return UserError(f"cannot load {name}", found=found, remedy=remedy)


def _directory(path: Path, seed: int) -> DistributedDataset:
    """Read train/CLASS/*.png and test/CLASS/*.png; classes are numbered by name, images shuffled with `seed`."""
    for part in ("train", "test"):
        if not (path / part).is_dir():
            expected = "directories train and test with one directory of images per class"
            raise UserError("no such directory", file=path / part, expected=expected)
    classes, of_test = (sorted(entry.name for entry in visible_directories(path / part)) for part in ("train", "test"))
    if unknown := [name for name in of_test if name not in classes]:
        raise UserError(f"class {unknown[0]}", file=path / "test", expected="a class of train", found="a new class")
    splits = []
    for part in ("train", "test"):
        files = [(file, label) for label, name in enumerate(classes) for file in images_in(path / part / name)]
        if not files:
            raise UserError("no images", file=path / part, expected=f"CLASS/NAME{{{','.join(SUFFIXES)}}}")
        order = stream("files", seed).permutation(len(files))
        labels = np.array([files[i][1] for i in order], np.int32)
        splits.append(Split(EncodedImages([files[i][0] for i in order]), labels))
    return DistributedDataset(splits[0], splits[1], len(classes))


def _npz(path: Path) -> DistributedDataset:
    with open_npz(path) as stored:
        if not all(name in stored for name in _NPZ):
            found = printable(", ".join(list(stored)[:10])) or "none"
            raise UserError("arrays", expected="x_train, y_train, x_test and y_test", found=found)
        arrays = {name: stored[name].read() for name in _NPZ}
        (train, train_labels), (test, test_labels) = (_npz_part(arrays, part) for part in ("train", "test"))
    if train.shape[1:] != test.shape[1:]:
        raise UserError("x_test", file=path, expected=f"shape {train.shape[1:]} as in x_train", found=test.shape[1:])
    n_classes = int(train_labels.max()) + 1
    if test_labels.max() >= n_classes:
        raise UserError("y_test", file=path, expected=f"labels 0 to {n_classes - 1}", found=int(test_labels.max()))
    return DistributedDataset(Split(train, train_labels), Split(test, test_labels), n_classes)


def _npz_part(arrays: Mapping[str, Array], part: str) -> tuple[Array, NDArray[np.int32]]:
    x, y = f"x_{part}", f"y_{part}"
    images, labels = arrays[x], arrays[y]
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    is_float = np.issubdtype(images.dtype, np.floating)
    checks: list[tuple[str, bool, str, object]] = [
        (x, images.ndim in (3, 4) and images.size > 0, "shape (N, H, W) or (N, H, W, C)", images.shape),
        (y, labels.shape == images.shape[:1], f"shape {images.shape[:1]}", labels.shape),
        (y, np.issubdtype(labels.dtype, np.integer), "integers", labels.dtype),
        (x, images.dtype == np.uint8 or is_float, "uint8, or floats in [0, 1]", images.dtype),
    ]
    for name, holds, wanted, found in checks:
        if not holds:
            raise UserError(name, expected=wanted, found=found)
    for label in (int(labels.min()), int(labels.max())):
        if not 0 <= label <= np.iinfo(np.int32).max:
            raise UserError(y, expected=f"labels 0 to {np.iinfo(np.int32).max}", found=label)
    low, high = float(images.min()), float(images.max())
    if is_float and not (low >= 0 and high <= 1):  # also refuses NaN
        values = "NaN" if np.isnan(low) else f"{low:g} to {high:g}"
        raise UserError(x, expected="numbers in [0, 1], or uint8", found=values)
    return images, labels.astype(np.int32)
