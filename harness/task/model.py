"""A trained model of a task. Its files are checked when the task is read, and when they are copied for a worker."""

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from harness.errors import UserError
from harness.format.architecture import Architecture, ModelShapes
from harness.format.files import MAX_JSON, require_file
from harness.format.layout import CONFIG, INITIAL_WEIGHTS, MODEL_FILES, WEIGHTS
from harness.format.weights import Array, read_weight_file, read_weights, write_worker_weights
from harness.reading import read_regular
from harness.task.digests import Digests, model_digest, with_digest

#: Function of a file and a function that reads it. Returns the file's content and digest.
_Reading = Callable[[Path, Callable[[Path], tuple[bytes, str]]], tuple[bytes, str]]

#: Weight file of a task -> file with the same weights for a worker.
ARCHIVES = {WEIGHTS: "weights.npz", INITIAL_WEIGHTS: "initial_weights.npz"}


@dataclass(frozen=True)
class Model:
    """A trained model whose files were checked."""

    id: str  #: name of the model's directory, e.g. `model_0`
    directory: Path  #: contains config.json and the weights
    digest: str  #: SHA-256 over all its files
    shown_digest: str  #: SHA-256 over what measures see: architecture and weights
    architecture: Architecture  #: the layers and the settings that measures see
    shapes: ModelShapes  #: shapes of weights and output, as Keras infers them
    has_initial_weights: bool  #: whether the weights before training are known

    @property
    def n_parameters(self) -> int:
        """Number of parameters in all weights, trained or not."""
        return self.shapes.n_parameters

    @property
    def input_shape(self) -> tuple[int, ...]:
        """Shape of one input, without the batch axis."""
        return self.architecture.input_shape

    @property
    def n_outputs(self) -> int:
        """Number of outputs, which is the number of classes."""
        return self.shapes.output_shape[0]

    def write_canonical(self, directory: Path) -> None:
        """Write the files that a worker reads: architecture.json, weights.npz and, if known, initial_weights.npz.

        These files do not reveal the model's id, training or origin. Raises `UserError` if the model's own files have
        changed since the task was read.
        """
        shown = _Shown(self.architecture)
        (directory / "architecture.json").write_bytes(shown.text.encode())
        for path in _weight_files(self.directory):
            arrays = read_weights(read_weight_file(path, self.shapes), path, self.architecture, self.shapes)
            shown.add(path.name, arrays)
            write_worker_weights(directory / ARCHIVES[path.name], arrays)
        if shown.digest != self.shown_digest:
            raise UserError("changed since the task was read", file=self.directory, remedy="run the same command again")


def read_model(
    directory: Path, architecture: Architecture, shapes: ModelShapes, digests: Digests | None = None
) -> Model:
    """Check the files of a model, and return the model.

    If `digests` knows that the same files are valid, no weight file is read. Raises `UserError` if a file is missing or
    damaged, weights do not fit the architecture or are not finite, or the number of outputs is not the number of
    classes.
    """
    if len(shapes.output_shape) != 1 or shapes.output_shape[0] < 2:
        found = f"shape {shapes.output_shape}"
        expected = "one number for each of at least 2 classes"
        raise UserError("output of the model", file=directory / CONFIG, expected=expected, found=found)
    files = [directory / name for name in MODEL_FILES]
    subject = json.dumps(architecture.canonical, sort_keys=True), architecture.names, architecture.file_order, shapes
    digest = shown_digest = None
    if digests is not None and digests.are_known(files):
        digest = digests.of_model(files)
        shown_digest = digests.finding(directory.name, digest, *subject)
    if digest is None or shown_digest is None:
        digest, shown_digest = _check(directory, architecture, shapes, digests)
        if digests is not None:
            digests.record(shown_digest, directory.name, digest, *subject)
    has_initial_weights = (directory / INITIAL_WEIGHTS).exists()
    return Model(directory.name, directory, digest, shown_digest, architecture, shapes, has_initial_weights)


def _check(
    directory: Path, architecture: Architecture, shapes: ModelShapes, digests: Digests | None
) -> tuple[str, str]:
    """Check all files of a model. Return `Model.digest` and `Model.shown_digest`."""
    reading: _Reading = (lambda file, read: read(file)) if digests is None else digests.reading
    shown = _Shown(architecture)
    _, digest = reading(directory / CONFIG, lambda file: with_digest(read_regular(file, MAX_JSON, links=True)))
    files = [(CONFIG, digest)]
    for path in _weight_files(directory):
        content, digest = reading(require_file(path), lambda file: with_digest(read_weight_file(file, shapes)))
        files.append((path.name, digest))
        shown.add(path.name, read_weights(content, path, architecture, shapes))
    return model_digest(files), shown.digest


def _weight_files(directory: Path) -> list[Path]:
    initial = directory / INITIAL_WEIGHTS
    return [directory / WEIGHTS, *([initial] if initial.exists() else [])]


class _Shown:
    """Computes the digest of what a measure sees of a model: architecture and weights."""

    def __init__(self, architecture: Architecture) -> None:
        self.text = json.dumps(architecture.canonical, sort_keys=True)
        self._total = hashlib.sha256(f"{self.text}\n".encode())

    def add(self, name: str, arrays: Sequence[Array]) -> None:
        self._total.update(f"{ARCHIVES[name]} {len(arrays)}\n".encode())
        for array in arrays:
            self._total.update(f"{array.shape}\n".encode())
            self._total.update(np.ascontiguousarray(array, "<f4").data)

    @property
    def digest(self) -> str:
        return self._total.hexdigest()
