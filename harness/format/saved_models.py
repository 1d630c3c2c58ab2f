"""Reads saved models.

`.keras` files are zip archives of Keras 3 with the architecture as JSON and the weights as HDF5. A whole model as HDF5
is written by `model.save("model.h5")` of Keras 2 and Keras 3, and `.npz` files by `numpy.savez(path,
*model.get_weights())`.
"""

from pathlib import Path
from typing import Any
from zipfile import ZipFile

import h5py

from harness.errors import UserError
from harness.format.architecture import MAX_CONFIG_BYTES, Architecture, ModelShapes
from harness.format.archive import names as members
from harness.format.archive import open_archive, read_member
from harness.format.arrays import open_npz
from harness.format.files import parse_json
from harness.format.hdf5 import names, open_hdf5
from harness.format.variables import read_variables
from harness.format.weights import Array, finite, largest_file
from harness.format.writer import VERSION
from harness.reading import open_regular

_CONFIG, _WEIGHTS, _SHARDED = "config.json", "model.weights.h5", "model.weights.json"

#: Holds the version of Keras; its largest size.
_METADATA, _MAX_METADATA = "metadata.json", 64 * 1024


def is_keras_file(path: Path) -> bool:
    """Whether a zip archive claims to be one of Keras; raises `UserError` if it is damaged."""
    with open_archive(path) as archive:
        return _CONFIG in members(archive)


def read_keras_config(path: Path) -> dict[str, Any]:
    """Return the architecture in Keras' own JSON, with the version of Keras if the file states it.

    Raises:
        UserError: the file is damaged or strange.
    """
    with open_archive(path) as archive:
        _require_plain(archive)
        content = parse_json(read_member(archive, _CONFIG, MAX_CONFIG_BYTES), path)
        if _METADATA not in members(archive):
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
    present = set(members(archive))
    if _SHARDED in present:
        remedy = "save it without max_shard_size"
        raise UserError("weights in several files", expected=_WEIGHTS, found=_SHARDED, remedy=remedy)
    missing = {_CONFIG, _WEIGHTS} - present
    if missing:
        found = ", ".join(sorted(present)[:5]) or "no files"
        raise UserError("not a .keras file", expected=f"{_CONFIG} and {_WEIGHTS}", found=found)


_ATTRIBUTE = "model_config"

#: Most bytes of a version.
_MAX_VERSION = 256


def read_whole_model_config(path: Path) -> dict[str, Any]:
    """Return the architecture in Keras' own JSON, with the version of Keras if the file states it.

    Raises:
        UserError: there is no architecture, or the file is damaged.
    """
    with open_regular(path, links=True) as stream, open_hdf5(stream, path) as file:
        if _ATTRIBUTE not in file.attrs:
            remedy = "name the architecture in the column `file` and these weights in `weights`"
            raise UserError("not a whole model", file=path, expected=f"an attribute {_ATTRIBUTE}", found="none",
                            remedy=remedy)  # fmt: skip
        stored = file.attrs.get_id(_ATTRIBUTE)
        if stored.shape != () or h5py.check_string_dtype(stored.dtype) is None:
            raise UserError(_ATTRIBUTE, file=path, expected="text", found=f"{stored.dtype}, shape {stored.shape}")
        if stored.dtype.itemsize > MAX_CONFIG_BYTES:
            found = f"{stored.dtype.itemsize} bytes"
            raise UserError(_ATTRIBUTE, file=path, expected=f"at most {MAX_CONFIG_BYTES} bytes", found=found)
        content = parse_json(file.attrs[_ATTRIBUTE], path)
        versions = names(file, VERSION, _MAX_VERSION) if VERSION in file.attrs else []
        return {VERSION: versions[0]} | content if versions else content


def read_listed_weights(path: Path, architecture: Architecture, shapes: ModelShapes) -> list[Array]:
    """Return the weights in the order of `get_weights()`, of the model that the architecture was read from.

    Raises:
        UserError: the file is damaged or of another model, or a number is not finite.
    """
    places = [(i, k) for i in architecture.file_order for k in range(len(shapes.layers[i].weights))]
    with open_npz(path) as arrays:
        wanted = [f"arr_{number}" for number in range(len(places))]
        if set(arrays) != set(wanted):
            found = f"{len(arrays)} arrays: {', '.join(list(arrays)[:5])}"
            remedy = "write them with numpy.savez(path, *model.get_weights())"
            raise UserError("weights", expected=f"{len(wanted)} arrays, arr_0, arr_1, ...", found=found, remedy=remedy)
        for name, (i, k) in zip(wanted, places, strict=True):
            weight, shape = shapes.layers[i].weights[k]
            if arrays[name].shape != shape or arrays[name].dtype.kind != "f":
                where = f"{name}, {weight} of layer {i} ({shapes.layers[i].class_name})"
                found = f"{arrays[name].dtype}, shape {arrays[name].shape}"
                raise UserError(where, expected=f"floating-point numbers of shape {shape}", found=found)
        read = {place: finite(name, arrays[name].read()) for name, place in zip(wanted, places, strict=True)}
    return [read[place] for place in sorted(read)]
