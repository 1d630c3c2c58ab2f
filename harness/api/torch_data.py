"""Reads examples for networks of PyTorch, and removes the paths of temporary files from messages."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness.errors import UserError, UserErrors
from harness.format.problems import InvalidTaskError
from harness.importer.data import Examples, classes_of, of_arrays

_EXPECTED = "(inputs, labels), a Dataset or a DataLoader of such pairs"

_BATCH = 256  #: number of examples that are read from a dataset at once


@dataclass(frozen=True)
class Arrays:
    """Labelled examples for a network of PyTorch."""

    source: str  #: `train` or `test`, for messages
    inputs: NDArray[Any]  #: (n, channels, ...)
    labels: NDArray[Any]  #: (n,), integers

    @property
    def channels_last(self) -> Examples:
        """The examples with the channels in the last axis, as a task has them."""
        inputs = np.moveaxis(self.inputs, 1, -1) if self.inputs.ndim > 2 else self.inputs
        return of_arrays(self.source, inputs, self.labels)


def arrays_of(data: Any, source: str) -> Arrays:
    """Return all examples of arrays, tensors, a `Dataset` or a `DataLoader`. Raise `UserError` for other data."""
    import torch

    if isinstance(data, torch.utils.data.Dataset):
        data = torch.utils.data.DataLoader(data, batch_size=_BATCH)
    is_pair = isinstance(data, tuple | list) and len(data) == 2 and all(hasattr(part, "shape") for part in data)
    try:
        parts = [(_array(inputs), _array(labels)) for inputs, labels in ([data] if is_pair else data)]
        if not any(len(inputs) for inputs, _ in parts):
            raise UserError(source, expected="at least 1 example", found="none")
        inputs, labels = map(np.concatenate, zip(*parts, strict=True))
    except (TypeError, ValueError) as error:
        raise UserError(source, expected=_EXPECTED, found=type(data).__name__) from error
    if inputs.ndim < 2 or len(inputs) != len(labels):
        found = f"shapes {inputs.shape} and {labels.shape}"
        raise UserError(source, expected="inputs (n, ...) with a label for each", found=found)
    if inputs.dtype.kind not in "biuf":
        raise UserError(source, expected="inputs that are real numbers", found=inputs.dtype)
    return Arrays(source, inputs, classes_of(labels, source))


def _array(values: Any) -> NDArray[Any]:
    return np.asarray(values.detach().cpu() if hasattr(values, "detach") else values)


def without_place(line: object, directory: str) -> str:
    """Return a line without the path of a directory, so that only the names of its files remain."""
    return str(line).replace(f"{directory}/", "")


@contextmanager
def named_in_errors(directory: str) -> Iterator[None]:
    """Return a context that removes a temporary directory's path from the lines of a `UserError`."""
    try:
        yield
    except UserError as error:
        lines = error.problems if isinstance(error, InvalidTaskError) else error.lines
        raise UserErrors(*(without_place(line, directory) for line in lines)) from error
