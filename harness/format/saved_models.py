"""Reads saved models: `.keras` files, whole models as HDF5, weights in the layout of Keras 3, and `.npz` files.

A `.keras` file is a zip archive of Keras 3 with the architecture as JSON and the weights as HDF5. Keras 2 and Keras 3
write whole models by `model.save("model.h5")`. An `.npz` file comes from `numpy.savez(path, *model.get_weights())`.

The layout of Keras 3 (`.weights.h5`) has the weights of layers by class and number, `layers/dense_1/vars/0`, and groups
for nested models and sublayers. Keras 2.12 to 2.14 wrote a similar layout, with other names of groups, and with gaps in
the numbers of a class.
"""

import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import h5py

from harness.errors import UserError
from harness.format.architecture import MAX_CONFIG_BYTES, Architecture, LayerShapes, ModelShapes
from harness.format.archive import names as members
from harness.format.archive import open_archive, read_member
from harness.format.arrays import open_npz
from harness.format.files import natural, parse_json
from harness.format.hdf5 import SIGNATURE, has_member, member, names, open_hdf5, require_plain_array
from harness.format.weights import Array, StoredLayer, StoredWeight, check_layer, finite, largest_file
from harness.format.writer import VERSION
from harness.reading import open_regular

#: Name of a layer whose weights belong to sublayers -> groups of the sublayers in the order of `get_weights()`.
_SUBLAYERS = {"MultiHeadAttention": ("query_dense", "key_dense", "value_dense", "output_dense")}

_LAYERS, _OLD_LAYERS = "layers", "_layer_checkpoint_dependencies"

_CONFIG, _WEIGHTS, _SHARDED = "config.json", "model.weights.h5", "model.weights.json"

#: The member with the version of Keras, and its maximum size in bytes.
_METADATA, _MAX_METADATA = "metadata.json", 64 * 1024

_ATTRIBUTE = "model_config"

#: Maximum length of a version in bytes.
_MAX_VERSION = 256


def holds_variables(content: bytes, path: Path) -> bool:
    """Whether a weight file has the layout of Keras 3 (`.weights.h5`); raises `UserError` for a damaged HDF5 file."""
    if not content.startswith(SIGNATURE):
        return False
    with open_hdf5(io.BytesIO(content), path) as file:
        is_keras_2 = "layer_names" in file.attrs or "layer_names0" in file.attrs
        return not is_keras_2 and (has_member(file, _LAYERS) or has_member(file, _OLD_LAYERS))


def read_variables(content: bytes, path: Path, architecture: Architecture, shapes: ModelShapes) -> list[Array]:
    """Return the weights in a file in the layout of Keras 3, in the order of `model.get_weights()`.

    All shapes are compared with the architecture before a weight is read. Raises `UserError` if the file is damaged,
    has another layout, does not fit the architecture, or has a number that is not finite.
    """
    with open_hdf5(io.BytesIO(content), path) as file:
        stored: list[StoredWeight] = []
        for position, (group, layer) in enumerate(zip(architecture.groups, shapes.layers, strict=True)):
            if layer.weights:
                weights = tuple(_weights(file, _stored_group(file, group, path), layer, path))
                check_layer(position, layer, StoredLayer(group, weights), path)
                stored += weights
        return [weight.read(path) for weight in stored]


def _stored_group(file: Any, group: str, path: Path) -> str:
    """Return the group of a layer in a file: `group` in Keras 3, another name in Keras 2.12 to 2.14."""
    if has_member(file, _LAYERS):
        return group
    found = ""
    for name in group.split(f"{_LAYERS}/")[1:]:
        kind, number = re.fullmatch(r"(.*?)(?:_(\d+))?/?", name).groups()  # type: ignore[union-attr]
        inside = f"{found}/{_OLD_LAYERS}" if found else _OLD_LAYERS
        members = member(file, inside, path)
        names = members if isinstance(members, h5py.Group) else ()
        alike = sorted((one for one in names if re.fullmatch(rf"{kind}(_\d+)?", one)), key=natural)
        found = f"{inside}/{(alike[int(number or 0) :] or [name.strip('/')])[0]}"
    return found


def _weights(file: Any, group: str, layer: LayerShapes, path: Path) -> Iterator[StoredWeight]:
    for part in _SUBLAYERS.get(layer.class_name, ("",)):
        in_keras_2 = f"{group}/_{part}/vars"
        is_of_keras_2 = bool(part) and member(file, in_keras_2, path) is not None
        name = in_keras_2 if is_of_keras_2 else f"{group}/{part}/vars" if part else f"{group}/vars"
        variables = member(file, name, path)
        if not isinstance(variables, h5py.Group):
            remedy = "the architecture and the weights seem to belong to different models"
            raise UserError(f"weights {name}", file=path, expected="a group of that name", found="none", remedy=remedy)
        for number in range(min(len(variables), len(layer.weights) + 1)):
            stored = member(file, f"{name}/{number}", path)
            if stored is None:
                raise UserError(f"weights {name}", file=path, expected=f"an array {number}", found="none")
            require_plain_array(stored, f"{name}/{number}", path)
            yield StoredWeight(f"{name}/{number}", stored)


def is_keras_file(path: Path) -> bool:
    """Whether a zip archive has a config.json, as `.keras` files have; raises `UserError` if it is damaged."""
    with open_archive(path) as archive:
        return _CONFIG in members(archive)


def read_keras_config(path: Path) -> dict[str, Any]:
    """Return the architecture in a `.keras` file as Keras' JSON; raises `UserError` if the file is damaged."""
    with open_archive(path) as archive:
        _require_plain(archive)
        content = parse_json(read_member(archive, _CONFIG, MAX_CONFIG_BYTES), path)
        if _METADATA not in members(archive):
            return content
        metadata = parse_json(read_member(archive, _METADATA, _MAX_METADATA), path)
        return {VERSION: metadata.get(VERSION), **content}


def read_keras_weights(path: Path, architecture: Architecture, shapes: ModelShapes) -> list[Array]:
    """Return the weights in a `.keras` file in the order of `get_weights()`; raises `UserError` if they are invalid."""
    with open_archive(path) as archive:
        content = read_member(archive, _WEIGHTS, largest_file(shapes))
    return read_variables(content, path, architecture, shapes)


def _require_plain(archive: ZipFile) -> None:
    """Raise `UserError` unless the archive has an architecture, and all weights in a single file."""
    present = set(members(archive))
    if _SHARDED in present:
        remedy = "save it without max_shard_size"
        raise UserError("weights in several files", expected=_WEIGHTS, found=_SHARDED, remedy=remedy)
    missing = {_CONFIG, _WEIGHTS} - present
    if missing:
        found = ", ".join(sorted(present)[:5]) or "no files"
        raise UserError("not a .keras file", expected=f"{_CONFIG} and {_WEIGHTS}", found=found)


def read_whole_model_config(path: Path) -> dict[str, Any]:
    """Return the architecture in an HDF5 file as Keras' JSON; raises `UserError` if the file has no valid JSON."""
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
    """Return the weights in an `.npz` file in the order of `get_weights()`; raises `UserError` if they are invalid."""
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
