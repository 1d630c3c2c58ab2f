"""Inputs and labels of any numeric type, brought into float32 inputs and int32 labels."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib.format import write_array_header_1_0
from numpy.typing import NDArray

from harness.errors import UserError

#: Numbers that are converted at once.
CHUNK = 2**22


@dataclass(frozen=True)
class Examples:
    """Labelled examples.

    Attributes:
        source: where they come from, for messages.
        shape: shape of all inputs, (n, ...).
        labels: integers (n,) or (n, 1), or one-hot (n, classes).
        parts: yields the inputs in order, in parts of the given number of examples.
    """

    source: str
    shape: tuple[int, ...]
    labels: NDArray[Any]
    parts: Callable[[int], Iterator[NDArray[Any]]]


def of_arrays(source: str, inputs: NDArray[Any], labels: NDArray[Any]) -> Examples:
    """Return the examples in two arrays."""
    return Examples(
        source, inputs.shape, labels, lambda size: (inputs[i : i + size] for i in range(0, len(inputs), size))
    )


def write_arrays(
    examples: Examples, directory: Path, input_shape: tuple[int, ...], n_outputs: int, divisor: float
) -> int:
    """Write inputs.npy and labels.npy, all inputs divided by `divisor`; returns the number of examples.

    An axis of one channel is added if the models have it.

    Raises:
        UserError: shapes do not fit the models or each other, a number is not finite, or a label is out of range.
    """
    labels, shape = _classes(examples), (examples.shape[0] if examples.shape else 0, *input_shape)
    if examples.shape not in (shape, shape[:-1] if shape[-1] == 1 else shape) or shape[0] == 0:
        expected = f"at least 1 of shape {input_shape}, as the models have"
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
                found = f"NaN or infinity in examples {start} to {end - 1}"
                raise UserError("inputs", file=examples.source, expected="finite numbers", found=found)
            stream.write(converted.tobytes())
            start = end
    return shape[0]


def _classes(examples: Examples) -> NDArray[Any]:
    """Return labels as integers (n,)."""
    labels = examples.labels
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.ndim == 2:
        if np.isin(labels, (0, 1)).all() and (labels.sum(axis=1) == 1).all():
            return np.asarray(labels.argmax(axis=1))
    elif labels.ndim == 1 and np.isfinite(labels).all() and np.array_equal(labels, np.trunc(labels)):
        return np.asarray(np.clip(labels, -1, 2**31 - 1), np.int64)
    expected = "integers, one per example, or one-hot rows"
    raise UserError("labels", file=examples.source, expected=expected, found=f"{labels.dtype}, shape {labels.shape}")
