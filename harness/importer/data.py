"""Reads data (arrays, shards, folders of images, datasets of Keras), and writes float32 inputs and int32 labels."""

import itertools
import math
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib.format import write_array_header_1_0
from numpy.typing import NDArray

from harness.corpus.sources import KERAS
from harness.errors import UserError
from harness.format.arrays import StoredArray, open_npz, read_npy, require_memory
from harness.format.files import located, natural
from harness.format.images import find_images, read_images
from harness.format.shards import read_samples
from harness.inspector.files import is_leftover
from harness.processes import Process
from harness.processes.runtimes import QUICKEST, installed_runtime

#: Maximum number of elements that are converted at once.
CHUNK = 2**22

KINDS = f".npz, .npy, a directory of shards or of images by class, or one of {', '.join(KERAS)}"

#: How the names of two `.npy` files begin, of inputs and of labels, as in `x_train.npy` and `y_train.npy`.
_BESIDE = (("x", "y"), ("inputs", "labels"), ("images", "labels"))

#: Names of inputs and of labels in an `.npz` file.
_PAIRS = (*_BESIDE, ("arr_0", "arr_1"))

#: How the names of shards end.
_SHARD = re.compile(r"\.tfrecords?(-\d+-of-\d+)?$")


@dataclass(frozen=True)
class Examples:
    """Labelled examples. The inputs may be too large for the memory, so `parts` reads them piece by piece."""

    source: str  #: where the examples come from, for messages
    shape: tuple[int, ...]  #: shape of all inputs, (n, ...)
    labels: NDArray[Any]  #: integers (n,) or (n, 1), or one-hot (n, classes)
    parts: Callable[[int], Iterator[NDArray[Any]]]  #: yields the inputs in arrays of up to a given number of examples
    classes: tuple[str, ...] = ()  #: names of the classes in the order of their labels, if directories name them


def of_arrays(source: str, inputs: NDArray[Any], labels: NDArray[Any]) -> Examples:
    """Return examples from two arrays: inputs (n, ...) and labels."""
    return Examples(
        source, inputs.shape, labels, lambda size: (inputs[i : i + size] for i in range(0, len(inputs), size))
    )


def with_channels_last(examples: Examples, input_shape: tuple[int, ...]) -> Examples:
    """Move the channels of inputs (n, channels, ...) to the last axis, so that an input has the shape `input_shape`.

    Inputs of any other shape, and inputs that already have `input_shape`, are returned unchanged.
    """
    channels_first = (*input_shape[-1:], *input_shape[:-1])
    if examples.shape[1:] != channels_first or channels_first == input_shape:
        return examples

    def parts(size: int) -> Iterator[NDArray[Any]]:
        return (np.moveaxis(part, 1, -1) for part in examples.parts(size))

    return replace(examples, shape=(*examples.shape[:1], *input_shape), parts=parts)


def with_labels_of(examples: Examples, classes: tuple[str, ...]) -> Examples:
    """Number the classes of test images as those of the training images, whose names are `classes`.

    If directories do not name both, the examples are returned unchanged. Raises `UserError` for a class without
    training images.
    """
    if not examples.classes or not classes:
        return examples
    if unknown := [name for name in examples.classes if name not in classes]:
        where, found = Path(examples.source, unknown[0]), "a new class"
        raise UserError("class", file=where, expected="a class of the training images", found=found)
    numbers = np.array([classes.index(name) for name in examples.classes], np.int32)
    return replace(examples, labels=numbers[examples.labels], classes=classes)


def write_arrays(
    examples: Examples, directory: Path, input_shape: tuple[int, ...], n_outputs: int, divisor: float
) -> int:
    """Write inputs.npy (inputs divided by `divisor`) and labels.npy to a new directory. Return the number of examples.

    If models have inputs of one channel, examples need no axis of channels. Raises `UserError` if shapes do not fit the
    models or each other, a number is not finite, or a label is out of range.
    """
    labels = classes_of(examples.labels, examples.source)
    shape = (examples.shape[0] if examples.shape else 0, *input_shape)
    if examples.shape not in (shape, shape[:-1] if shape[-1] == 1 else shape) or shape[0] == 0:
        order = " (channels last)" * (len(input_shape) > 1)
        expected = f"at least 1 of shape {input_shape}{order}, as the models have"
        raise UserError("inputs", file=examples.source, expected=expected, found=f"shape {examples.shape}")
    if labels.shape != shape[:1]:
        raise UserError("labels", file=examples.source, expected=f"shape {shape[:1]}", found=labels.shape)
    wrong = np.flatnonzero((labels < 0) | (labels >= n_outputs))
    if len(wrong):
        expected = f"0..{n_outputs - 1}, because the models have {n_outputs} outputs"
        found = f"{labels[wrong[0]]} of example {wrong[0]}"
        raise UserError("label", file=examples.source, expected=expected, found=found)
    directory.mkdir(parents=True)
    np.save(directory / "labels.npy", labels.astype(np.int32))
    start = 0
    with (directory / "inputs.npy").open("wb") as stream:
        write_array_header_1_0(stream, {"descr": "<f4", "fortran_order": False, "shape": shape})
        for part in examples.parts(max(1, CHUNK // math.prod(input_shape))):
            end = start + len(part)
            with np.errstate(over="ignore"):
                converted = np.asarray(part, "<f4") / np.float32(divisor)
            if not np.isfinite(converted).all():
                bad = np.flatnonzero(~np.isfinite(converted).reshape(len(part), -1).all(axis=1))
                found = f"NaN or infinity in example {start + bad[0]}"
                raise UserError("inputs", file=examples.source, expected="finite numbers", found=found)
            stream.write(converted.tobytes())
            start = end
    return shape[0]


def classes_of(labels: NDArray[Any], source: str) -> NDArray[Any]:
    """Return labels (n,), (n, 1) or one-hot (n, classes) as integers (n,); raise `UserError` for other labels."""
    found, remedy = f"{labels.dtype}, shape {labels.shape}", None
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.dtype.kind not in "biuf":
        is_text = labels.dtype.kind in "OSU"
        remedy = "numpy.unique(labels, return_inverse=True)[1] numbers classes" if is_text else None
    elif labels.ndim == 2:
        if np.isin(labels, (0, 1)).all() and (labels.sum(axis=1) == 1).all():
            return np.asarray(labels.argmax(axis=1))
    elif labels.ndim == 1:
        wrong = np.flatnonzero(~np.isfinite(labels) | (labels != np.trunc(labels)))
        if not len(wrong):
            return np.asarray(np.clip(labels, -1, 2**31 - 1), np.int64)
        found, remedy = f"{labels[wrong[0]]} of example {wrong[0]}", "regression is not supported"
    expected = "integers, one per example, or one-hot rows"
    raise UserError("labels", file=source, expected=expected, found=found, remedy=remedy)


def read_examples(source: str, part: str, input_shape: tuple[int, ...]) -> Examples:
    """Read examples from `source`: a path, or the name of a dataset of Keras.

    If the source has training and test data, only `part` (`train` or `test`) is read. `input_shape` is the shape of one
    input of the models: images get its number of channels. Raises `UserError` if the data are missing, damaged or of an
    unknown kind.
    """
    path = Path(source)
    if path.is_dir():
        return _of_directory(path, input_shape)
    if path.suffix == ".npz" and path.is_file():
        return _of_npz(path, part)
    if path.suffix == ".npy" and path.is_file():
        return of_arrays(source, read_npy(path), _labels_of(_labels_beside(path)))
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


def _labels_of(path: Path) -> NDArray[Any]:
    labels = read_npy(path)
    with located(path):
        require_memory("labels", 8 * labels.size)  # `classes_of` converts all of them at once
    return labels


def _of_directory(path: Path, input_shape: tuple[int, ...]) -> Examples:
    shards = [shard for shard in path.glob("*.tfrecord*") if not is_leftover(shard.name)]
    shards.sort(key=lambda shard: natural(shard.name))
    if odd := [shard for shard in shards if not _SHARD.search(shard.name)]:  # a copy would count its examples twice
        expected = "names that end with .tfrecord, .tfrecords or .tfrecord-00000-of-00010"
        raise UserError("shards", file=path, expected=expected, found=odd[0].name, remedy="move it away, or rename it")
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
        tuple(dict.fromkeys(image.parent.name for image, _ in images)),
    )  # fmt: skip


def _stacked(inputs: Iterator[NDArray[Any]], shape: tuple[int, ...], path: Path, size: int) -> Iterator[NDArray[Any]]:
    while batch := list(itertools.islice(inputs, size)):
        for one in batch:
            if one.shape != shape:
                raise UserError("shape of an input", file=path, expected=shape, found=one.shape)
        yield np.stack(batch)


def _of_keras(name: str, part: str) -> Examples:
    """Read a dataset of Keras in a process that imports Keras. If necessary, Keras downloads the dataset."""
    runtime = installed_runtime(QUICKEST)
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory, f"{name}.npz")
        with Process("harness.corpus.keras_arrays", runtime, gpu=False, own_data=True) as process:
            process.ask({"name": name, "file": str(file)})
        return _of_npz(file, part)
