"""A model as people have it: reads its architecture and its weights, whatever the kind of its files."""

from pathlib import Path
from typing import Any

from harness.errors import UserError
from harness.format.architecture import ModelShapes, parse_architecture
from harness.format.keras_file import read_keras_config, read_keras_weights
from harness.format.weights import Array
from harness.importer.table import Row

#: Parts of Keras' JSON that say what a model is; others say how it was compiled.
_PARTS = ("module", "class_name", "config", "registered_name", "build_config")


class StoredModel:
    """The files of one model.

    Attributes:
        row: the model's row of the table.
        config: the content of config.json.
        architecture: the layers.
    """

    def __init__(self, row: Row) -> None:
        """Read the architecture; raises `UserError`."""
        self.row = row
        self.config = _config(_existing(row.file))
        self.architecture = parse_architecture(self.config, row.file)

    def weights(self, shapes: ModelShapes) -> list[Array]:
        """Return the weights in the order of `get_weights()`; raises `UserError`."""
        return read_keras_weights(self.row.file, self.architecture, shapes)


def _existing(path: Path) -> Path:
    if not path.is_file():
        found = "a directory" if path.is_dir() else "nothing"
        raise UserError("missing", file=path, expected="a file", found=found, remedy="paths start at the table's")
    return path


def _config(path: Path) -> dict[str, Any]:
    content = read_keras_config(path)
    return {name: content[name] for name in _PARTS if name in content}
