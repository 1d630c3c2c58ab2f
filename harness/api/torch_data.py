"""Data as users of PyTorch have them: arrays, tensors, datasets and loaders, with the channels first."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness.errors import UserError
from harness.importer.data import Examples, of_arrays

_EXPECTED = "(inputs, labels), a Dataset or a DataLoader of such pairs"

#: Examples of a dataset that are taken at once.
_BATCH = 256


@dataclass(frozen=True)
class Arrays:
    """Labelled examples.

    Attributes:
        source: `train` or `test`, for messages.
        inputs: (n, ...) as the modules take them.
        labels: as they were given.
    """

    source: str
    inputs: NDArray[Any]
    labels: NDArray[Any]

    @property
    def channels_last(self) -> Examples:
        """The examples as a task has them: the second axis is the last."""
        inputs = np.moveaxis(self.inputs, 1, -1) if self.inputs.ndim > 2 else self.inputs
        return of_arrays(self.source, inputs, self.labels)


def arrays_of(data: Any, source: str) -> Arrays:
    """Return all examples; raises `UserError` if they are no pairs of inputs and labels."""
    import torch

    if isinstance(data, torch.utils.data.Dataset):
        data = torch.utils.data.DataLoader(data, batch_size=_BATCH)
    if isinstance(data, tuple | list) and len(data) == 2 and all(hasattr(part, "shape") for part in data):
        parts = [data]
    else:
        try:
            parts = [(inputs, labels) for inputs, labels in data]
        except (TypeError, ValueError) as error:
            raise UserError(source, expected=_EXPECTED, found=type(data).__name__) from error
    if not any(len(inputs) for inputs, _ in parts):
        raise UserError(source, expected="at least 1 example", found="none")
    inputs, labels = (np.concatenate([_array(part[place]) for part in parts]) for place in (0, 1))
    if inputs.ndim < 2 or len(inputs) != len(labels):
        found = f"shapes {inputs.shape} and {labels.shape}"
        raise UserError(source, expected="inputs (n, ...) with a label for each", found=found)
    return Arrays(source, inputs, labels)


def _array(values: Any) -> NDArray[Any]:
    return np.asarray(values.detach().cpu() if hasattr(values, "detach") else values)
