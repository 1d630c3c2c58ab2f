"""Reads training and test data in common forms: arrays, shards, folders of images, datasets of Keras."""

import itertools
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness.corpus.sources import KERAS
from harness.errors import UserError
from harness.format.arrays import StoredArray, open_npz, read_npy
from harness.format.files import natural
from harness.format.images import find_images, read_images
from harness.format.shards import read_samples
from harness.importer.examples import Examples, of_arrays
from harness.inspector.files import is_leftover
from harness.processes import Process
from harness.processes.runtimes import QUICKEST, installed_runtime

KINDS = f".npz, .npy, a directory of shards or of images by class, or one of {', '.join(KERAS)}"

#: Names of inputs and labels in an `.npz` file.
_PAIRS = (("x", "y"), ("inputs", "labels"), ("images", "labels"), ("arr_0", "arr_1"))

#: How the name of an `.npy` file of inputs begins, and that of its labels beside it.
_BESIDE = (("x", "y"), ("inputs", "labels"), ("images", "labels"))


def read_examples(source: str, part: str, input_shape: tuple[int, ...]) -> Examples:
    """Read the data that a path, or the name of a dataset of Keras, names.

    Args:
        source: path or name.
        part: `train` or `test`, if the source holds both.
        input_shape: shape of one input of the models; images are converted to it.

    Raises:
        UserError: the data are missing, damaged or of an unknown kind.
    """
    path = Path(source)
    if path.is_dir():
        return _of_directory(path, input_shape)
    if path.suffix == ".npz" and path.is_file():
        return _of_npz(path, part)
    if path.suffix == ".npy" and path.is_file():
        return of_arrays(source, read_npy(path), read_npy(_labels_beside(path)))
    if source in KERAS and not path.exists():
        return _of_keras(source, part)
    raise UserError("not data", file=path, expected=KINDS, found="another kind" if path.exists() else "nothing")


def _of_npz(path: Path, part: str) -> Examples:
    with open_npz(path) as arrays:
        inputs, labels = _pair(arrays, part)
        return of_arrays(str(path), arrays[inputs].read(), arrays[labels].read())


def _pair(arrays: Mapping[str, StoredArray], part: str) -> tuple[str, str]:
    for pair in ((f"x_{part}", f"y_{part}"), (f"inputs_{part}", f"labels_{part}"), *_PAIRS):
        if all(name in arrays for name in pair):
            return pair
    expected = f"x_{part} and y_{part}, or x and y"
    raise UserError("arrays", expected=expected, found=", ".join(list(arrays)[:10]) or "none")


def _labels_beside(path: Path) -> Path:
    for inputs, labels in _BESIDE:
        if path.name.startswith(inputs):
            beside = path.with_name(labels + path.name.removeprefix(inputs))
            if beside.is_file():
                return beside
            raise UserError("no labels", file=path, expected=f"{beside.name} beside it", found="nothing")
    expected = "a name that begins with x, and labels beside it in a file whose name begins with y"
    raise UserError("name of the inputs", file=path, expected=expected, found=path.name)


def _of_directory(path: Path, input_shape: tuple[int, ...]) -> Examples:
    shards = [shard for shard in path.glob("*.tfrecord*") if not is_leftover(shard.name)]
    shards.sort(key=lambda shard: natural(shard.name))
    if shards:
        labels = np.array([label for shard in shards for _, label in read_samples(shard)], np.int32)
        first = next(read_samples(shards[0]))[0].shape

        def samples(size: int) -> Iterator[NDArray[Any]]:
            return _stacked((inputs for shard in shards for inputs, _ in read_samples(shard)), first, path, size)

        return Examples(str(path), (len(labels), *first), labels, samples)
    images = find_images(path)
    labels = np.array([label for _, label in images], np.int32)
    return Examples(
        str(path), (len(images), *input_shape), labels,
        lambda size: _stacked(read_images(images, input_shape), input_shape, path, size),
    )  # fmt: skip


def _stacked(inputs: Iterator[NDArray[Any]], shape: tuple[int, ...], path: Path, size: int) -> Iterator[NDArray[Any]]:
    """Yield arrays of up to `size` inputs; raises `UserError` for one of another shape."""
    while batch := list(itertools.islice(inputs, size)):
        for one in batch:
            if one.shape != shape:
                raise UserError("shape of an input", file=path, expected=shape, found=one.shape)
        yield np.stack(batch)


def _of_keras(name: str, part: str) -> Examples:
    """Have Keras read one of its datasets, from its cache or the network, in a process of its own."""
    runtime = installed_runtime(QUICKEST)
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory, f"{name}.npz")
        with Process("harness.corpus.keras_arrays", runtime, gpu=False, own_data=True) as process:
            process.ask({"name": name, "file": str(file)})
        return _of_npz(file, part)
