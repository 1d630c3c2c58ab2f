"""Reads a model from files of any supported kind: architecture, weights, and weights before training."""

from codecs import BOM_UTF8
from collections.abc import Callable
from pathlib import Path
from typing import Any

from harness.errors import UserError
from harness.format.architecture import MAX_CONFIG_BYTES, Architecture, ModelShapes, parse_architecture
from harness.format.files import START, other_kind, parse_json
from harness.format.hdf5 import SIGNATURE
from harness.format.saved_models import (
    holds_variables,
    is_keras_file,
    read_keras_config,
    read_keras_weights,
    read_listed_weights,
    read_variables,
    read_whole_model_config,
)
from harness.format.weights import Array, read_weight_file, read_weights
from harness.format.writer import VERSION
from harness.importer.table import ImportedRow
from harness.reading import is_missing, open_regular, read_regular

#: Parts of Keras' JSON, or of a list of layers, that describe the model itself.
_PARTS = (
    "module", "class_name", "config", "registered_name", "build_config", "model_config", "input_shape", VERSION,
)  # fmt: skip

_ZIP = b"PK"


class StoredModel:
    """A model in a table. The constructor raises `UserError` if a file is missing or unsuitable.

    The kind of a file is recognized by its first bytes, not by its name. `config` is the content of config.json.
    """

    def __init__(self, row: ImportedRow) -> None:
        self.row = row
        content = _config(row.file)
        self.config = {name: content[name] for name in _PARTS if name in content} or content
        self.architecture: Architecture = parse_architecture(self.config, row.file)
        self._weights = row.weights or row.file
        if row.weights is None and not _start(row.file).startswith((_ZIP, SIGNATURE)):
            expected = "a file with the weights in the column `weights`"
            raise UserError("architecture without weights", file=row.file, expected=expected, found="none")
        for path in (self._weights, row.initial):
            if path is not None:
                _start(path)

    def weights(self, shapes: ModelShapes) -> list[Array]:
        """Return the weights in the order of `get_weights()`; raises `UserError` if they do not fit `shapes`."""
        return self._read(self._weights, shapes)

    def initial_weights(self, shapes: ModelShapes) -> list[Array] | None:
        """Return the weights before training, in the form of `weights`; None if the table names no file for them."""
        return None if self.row.initial is None else self._read(self.row.initial, shapes)

    def _read(self, path: Path, shapes: ModelShapes) -> list[Array]:
        if _start(path).startswith(_ZIP):
            read = read_keras_weights if is_keras_file(path) else read_listed_weights
            return read(path, self.architecture, shapes)
        content = read_weight_file(path, shapes)
        read_hdf5: Callable[..., list[Array]] = read_variables if holds_variables(content, path) else read_weights
        return read_hdf5(content, path, self.architecture, shapes)


def _start(path: Path) -> bytes:
    """Return the first bytes of a file; raises `UserError` if it is missing."""
    if is_missing(path):
        raise UserError(
            "missing", file=path, expected="a file", found="nothing", remedy="paths begin at the table's directory"
        )
    with open_regular(path, links=True) as stream:
        return stream.read(START)


def _config(path: Path) -> dict[str, Any]:
    start = _start(path)
    if start.startswith(_ZIP):
        return read_keras_config(path)
    if start.startswith(SIGNATURE):
        return read_whole_model_config(path)
    if not start.removeprefix(BOM_UTF8).lstrip().startswith(b"{"):
        expected = "a .keras or .pt2 file, a whole model as .h5, or JSON"
        raise other_kind("unknown kind of file", start, file=path, expected=expected)
    return parse_json(read_regular(path, MAX_CONFIG_BYTES, links=True), path)
