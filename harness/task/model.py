"""One trained model of a task: checked when it is read, its weights loaded only to hand them on."""

import hashlib
import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from harness.errors import UserError
from harness.task.architecture import CONFIG, Architecture
from harness.task.shapes import ModelShapes
from harness.task.weights import Array, arrange, read_weights

WEIGHTS = "weights.hdf5"
INITIAL_WEIGHTS = "weights_init.hdf5"

#: The files of a model's directory, in the order in which they are digested.
FILES = (CONFIG, WEIGHTS, INITIAL_WEIGHTS)


@dataclass(frozen=True)
class Model:
    """A trained model whose files are known to fit together.

    Attributes:
        id: name of the model's directory, e.g. `model_0`.
        directory: where config.json and the weights lie.
        digest: SHA-256 over the model's files.
        architecture: the layers, without names and without what was for training only.
        shapes: the weights and the output that Keras gives that architecture.
        has_initial_weights: whether the weights before training are known.
    """

    id: str
    directory: Path
    digest: str
    architecture: Architecture
    shapes: ModelShapes
    has_initial_weights: bool

    @property
    def n_parameters(self) -> int:
        """Number of all weights, trained or not."""
        return sum(math.prod(shape) for layer in self.shapes.layers for _, shape in layer.weights)

    @property
    def input_shape(self) -> tuple[int, ...]:
        """Shape of one input, without the batch axis."""
        return self.architecture.input_shape

    @property
    def n_outputs(self) -> int:
        """Number of outputs, one per class."""
        return self.shapes.output_shape[0]

    def write_canonical(self, directory: Path) -> None:
        """Write what the worker is given: architecture.json, weights.npz and, if known, initial_weights.npz.

        The archives are uncompressed and hold arrays w0, w1, ... in the order of `model.get_weights()`.
        Nothing in these files tells the model's id, how it was trained, or where it came from.
        """
        (directory / "architecture.json").write_text(json.dumps(self.architecture.canonical))
        self._write_weights(WEIGHTS, directory / "weights.npz")
        if self.has_initial_weights:
            self._write_weights(INITIAL_WEIGHTS, directory / "initial_weights.npz")

    def _write_weights(self, source: str, target: Path) -> None:
        arrays = _load(self.directory / source, self.architecture, self.shapes)
        named: dict[str, Any] = {f"w{i}": array for i, array in enumerate(arrays)}
        np.savez(target, **named)


def read_model(directory: Path, architecture: Architecture, shapes: ModelShapes) -> Model:
    """Check a model's files against each other, and return it.

    Raises:
        UserError: a file is missing or damaged, weights do not fit the architecture or are not finite, or the
            output is not one number per class.
    """
    if len(shapes.output_shape) != 1 or shapes.output_shape[0] < 2:
        found = f"shape {shapes.output_shape}"
        expected = "one number for each of at least 2 classes"
        raise UserError("output of the model", file=directory / CONFIG, expected=expected, found=found)
    _load(directory / WEIGHTS, architecture, shapes)
    has_initial_weights = (directory / INITIAL_WEIGHTS).exists()
    if has_initial_weights:
        _load(directory / INITIAL_WEIGHTS, architecture, shapes)
    return Model(directory.name, directory, _digest(directory), architecture, shapes, has_initial_weights)


def _load(path: Path, architecture: Architecture, shapes: ModelShapes) -> list[Array]:
    return arrange(read_weights(path), architecture, shapes, path)


def _digest(directory: Path) -> str:
    """SHA-256 over the names and contents of the files that are there."""
    total = hashlib.sha256()
    for name in FILES:
        if (directory / name).exists():
            with (directory / name).open("rb") as stream:
                total.update(f"{name} {hashlib.file_digest(stream, 'sha256').hexdigest()}\n".encode())
    return total.hexdigest()
