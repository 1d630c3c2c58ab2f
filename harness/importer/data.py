"""Training and test data as people have them, brought into float32 inputs and int32 labels."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib.format import open_memmap
from numpy.typing import NDArray

from harness.errors import UserError
from harness.format.arrays import StoredArray, open_npz

#: Numbers that are converted at once.
CHUNK = 2**22

#: Names of inputs and labels in an `.npz` file.
_PAIRS = (("x", "y"), ("inputs", "labels"), ("images", "labels"), ("arr_0", "arr_1"))


@dataclass(frozen=True)
class Examples:
    """Inputs (n, ...) of any numeric type and labels (n,) of integers, or (n, classes) one-hot.

    `source` names them in messages.
    """

    source: str
    inputs: NDArray[Any]
    labels: NDArray[Any]


def read_examples(source: str, part: str) -> Examples:
    """Read the data that a path names; `part`, `train` or `test`, selects one of both in a file.

    Raises:
        UserError: the data are missing, damaged or of an unknown kind.
    """
    path = Path(source)
    if path.suffix == ".npz" and path.is_file():
        with open_npz(path) as arrays:
            inputs, labels = _pair(path, arrays, part)
            return Examples(source, arrays[inputs].read(), arrays[labels].read())
    found = "nothing" if not path.exists() else "another kind"
    raise UserError("not data", file=path, expected="an .npz file", found=found)


def _pair(path: Path, arrays: Mapping[str, StoredArray], part: str) -> tuple[str, str]:
    pairs = [(f"{x}_{part}", f"{y}_{part}") for x, y in _PAIRS[:2]] + list(_PAIRS)
    for pair in pairs:
        if all(name in arrays for name in pair):
            return pair
    expected = f"arrays x and y, or x_{part} and y_{part}"
    raise UserError("arrays", file=path, expected=expected, found=", ".join(list(arrays)[:10]) or "none")


def write_arrays(
    examples: Examples, directory: Path, input_shape: tuple[int, ...], n_outputs: int, divisor: float
) -> int:
    """Write inputs.npy and labels.npy, all inputs divided by `divisor`; returns the number of examples.

    An axis of one channel is added if the models have it.

    Raises:
        UserError: shapes do not fit the models or each other, a number is not finite, or a label is out of range.
    """
    inputs, labels = examples.inputs, _classes(examples)
    if (*inputs.shape[1:], 1) == input_shape:
        inputs = inputs[..., np.newaxis]
    if inputs.shape[1:] != input_shape or not len(inputs):
        expected = f"at least 1 of shape {input_shape}, as the models have"
        raise UserError("inputs", file=examples.source, expected=expected, found=f"shape {inputs.shape}")
    if labels.shape != inputs.shape[:1]:
        raise UserError("labels", file=examples.source, expected=f"shape {inputs.shape[:1]}", found=labels.shape)
    wrong = np.flatnonzero((labels < 0) | (labels >= n_outputs))
    if len(wrong):
        expected = f"0..{n_outputs - 1}, because the models have {n_outputs} outputs"
        found = f"{labels[wrong[0]]} of example {wrong[0]}"
        raise UserError("label", file=examples.source, expected=expected, found=found)
    directory.mkdir(parents=True)
    np.save(directory / "labels.npy", labels.astype(np.int32))
    stored = open_memmap(directory / "inputs.npy", "w+", np.float32, inputs.shape)
    step = max(1, CHUNK // math.prod(input_shape))
    for start in range(0, len(inputs), step):
        with np.errstate(over="ignore"):
            part = np.asarray(inputs[start : start + step], np.float32)
            part = part if divisor == 1 else part / np.float32(divisor)
        if not np.isfinite(part).all():
            found = f"NaN or infinity in examples {start} to {start + len(part) - 1}"
            raise UserError("inputs", file=examples.source, expected="finite numbers", found=found)
        stored[start : start + step] = part
    stored.flush()
    return len(inputs)


def _classes(examples: Examples) -> NDArray[Any]:
    """Return labels as integers (n,)."""
    labels = examples.labels
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.ndim == 2:
        is_one_hot = np.isin(labels, (0, 1)).all() and (labels.sum(axis=1) == 1).all()
        if is_one_hot:
            return np.asarray(labels.argmax(axis=1))
    elif labels.ndim == 1 and (labels.dtype.kind in "iu" or np.array_equal(labels, np.trunc(labels))):
        return labels.astype(np.int64)
    expected = "integers, one per example, or one-hot rows"
    raise UserError("labels", file=examples.source, expected=expected, found=f"{labels.dtype}, shape {labels.shape}")
