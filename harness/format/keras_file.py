"""Reads `.keras` files: zip archives of Keras 3 with the architecture as JSON and the weights as HDF5."""

from pathlib import Path
from typing import Any
from zipfile import ZipFile

from harness.errors import UserError
from harness.format.architecture import MAX_CONFIG_BYTES, Architecture, ModelShapes
from harness.format.archive import names, open_archive, read_member
from harness.format.files import parse_json
from harness.format.variables import read_variables
from harness.format.weights import Array, largest_file
from harness.format.writer import VERSION

_CONFIG, _WEIGHTS, _SHARDED = "config.json", "model.weights.h5", "model.weights.json"

#: Holds the version of Keras; its largest size.
_METADATA, _MAX_METADATA = "metadata.json", 64 * 1024


def is_keras_file(path: Path) -> bool:
    """Whether a zip archive claims to be one of Keras; raises `UserError` if it is damaged."""
    with open_archive(path) as archive:
        return _CONFIG in names(archive)


def read_keras_config(path: Path) -> dict[str, Any]:
    """Return the architecture in Keras' own JSON, with the version of Keras if the file states it.

    Raises:
        UserError: the file is damaged or strange.
    """
    with open_archive(path) as archive:
        _require_plain(archive)
        content = parse_json(read_member(archive, _CONFIG, MAX_CONFIG_BYTES), path)
        if _METADATA not in names(archive):
            return content
        metadata = parse_json(read_member(archive, _METADATA, _MAX_METADATA), path)
        return {VERSION: metadata.get(VERSION), **content}


def read_keras_weights(path: Path, architecture: Architecture, shapes: ModelShapes) -> list[Array]:
    """Return the weights in the architecture's order; errors as `read_variables`."""
    with open_archive(path) as archive:
        content = read_member(archive, _WEIGHTS, largest_file(shapes))
    return read_variables(content, path, architecture, shapes)


def _require_plain(archive: ZipFile) -> None:
    """Raise `UserError` unless the archive holds one architecture and one file of weights."""
    present = set(names(archive))
    if _SHARDED in present:
        remedy = "save it without max_shard_size"
        raise UserError("weights in several files", expected=_WEIGHTS, found=_SHARDED, remedy=remedy)
    missing = {_CONFIG, _WEIGHTS} - present
    if missing:
        found = ", ".join(sorted(present)[:5]) or "no files"
        raise UserError("not a .keras file", expected=f"{_CONFIG} and {_WEIGHTS}", found=found)
