"""Reads weights from HDF5 files in the layout of Keras 2 and puts them into the architecture's order."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from numpy.typing import NDArray

from harness.errors import UserError
from harness.task.architecture import Architecture
from harness.task.files import require_file
from harness.task.shapes import LayerShapes, ModelShapes

Array = NDArray[np.float32]

_REMEDY = "write it by model.save('weights.hdf5') of Keras 3 or model.save_weights('weights.hdf5') of Keras 2"


@dataclass(frozen=True)
class StoredLayer:
    """The weights of one layer as a file holds them."""

    name: str
    arrays: tuple[Array, ...]


def read_weights(path: Path) -> list[StoredLayer]:
    """Read the layers that have weights, in the file's order; arrays are float32.

    Accepted are weight files and whole models in the HDF5 layout of Keras 2 (Keras 3 writes it as well).

    Raises:
        UserError: the file is missing, damaged or in another layout, or a number is not finite.
    """
    require_file(path)
    if not h5py.is_hdf5(path):
        with path.open("rb") as stream:
            start = stream.read(8)
        found = f"a file that starts with {start!r}" if start else "an empty file"
        raise UserError("not HDF5", file=path, expected="an HDF5 file of weights", found=found, remedy=_REMEDY)
    try:
        with h5py.File(path, "r") as file:
            root = file.get("model_weights", file)
            return [layer for layer in _stored_layers(root, path) if layer.arrays]
    except OSError as error:  # HDF5 notices a truncated file when it opens it, a damaged one when it reads
        size = f"{path.stat().st_size} bytes: {error}"
        raise UserError(
            "damaged", file=path, expected="a whole HDF5 file", found=size, remedy="copy it again"
        ) from error


def _stored_layers(root: Any, path: Path) -> Iterator[StoredLayer]:
    if not _has_names(root, "layer_names"):
        keras3 = "layers" in root or "_layer_checkpoint_dependencies" in root
        found = "the .weights.h5 layout of Keras 3" if keras3 else "no attribute layer_names"
        raise UserError("unknown layout", file=path, expected="the HDF5 layout of Keras 2", found=found, remedy=_REMEDY)
    for name in _names(root, "layer_names"):
        if name not in root:
            raise UserError(f"layer {name}", file=path, expected="a group of that name", found="none")
        group = root[name]
        arrays = tuple(_array(group, weight, path) for weight in _names(group, "weight_names"))
        yield StoredLayer(name, arrays)


def _has_names(group: Any, attribute: str) -> bool:
    return attribute in group.attrs or f"{attribute}0" in group.attrs


def _names(group: Any, attribute: str) -> list[str]:
    """A list of names; Keras splits one too long for an HDF5 attribute into several that end in a number."""
    if attribute in group.attrs:
        chunks = [attribute]
    else:
        chunks = [f"{attribute}{n}" for n in range(len(group.attrs)) if f"{attribute}{n}" in group.attrs]
    names = [name for chunk in chunks for name in group.attrs[chunk]]
    return [name.decode() if isinstance(name, bytes) else str(name) for name in names]


def _array(group: Any, name: str, path: Path) -> Array:
    if name not in group:
        raise UserError(f"weight {name}", file=path, expected="an array of that name", found="none")
    stored = group[name][()]
    if not np.issubdtype(stored.dtype, np.floating):
        raise UserError(f"weight {name}", file=path, expected="floating-point numbers", found=stored.dtype)
    array = np.asarray(stored, dtype=np.float32)
    bad = int(np.size(array) - np.count_nonzero(np.isfinite(array)))
    if bad:
        found = f"{bad} of {array.size} NaN or infinite"
        raise UserError(f"weight {name}", file=path, expected="finite numbers", found=found)
    return array


def arrange(stored: Sequence[StoredLayer], architecture: Architecture, shapes: ModelShapes, path: Path) -> list[Array]:
    """Put a file's weights into the architecture's order, which is that of `model.get_weights()`.

    Layers are matched by name if config.json and the file name the same layers, else by their order.

    Raises:
        UserError: number of layers, number of arrays or a shape differ from what the architecture needs.
    """
    positions = [i for i in architecture.file_order if shapes.layers[i].weights]
    if len(stored) != len(positions):
        raise UserError(
            "number of weights",
            file=path,
            expected=_count([len(shapes.layers[i].weights) for i in positions]),
            found=_count([len(layer.arrays) for layer in stored]),
            remedy="config.json and weights seem to be of two models",
        )
    by_name = {layer.name: layer for layer in stored}
    if by_name.keys() == {architecture.names[i] for i in positions}:
        matched = {i: by_name[str(architecture.names[i])] for i in positions}
    else:
        matched = dict(zip(positions, stored, strict=True))
    for position in positions:
        _check_layer(position, shapes.layers[position], matched[position], path)
    return [array for position in sorted(positions) for array in matched[position].arrays]


def _count(arrays_per_layer: Sequence[int]) -> str:
    return f"{sum(arrays_per_layer)} arrays in {len(arrays_per_layer)} layers"


def _check_layer(position: int, expected: LayerShapes, found: StoredLayer, path: Path) -> None:
    where = f"layer {position} ({expected.class_name}), {found.name!r} in the file"
    if len(found.arrays) != len(expected.weights):
        names = ", ".join(name for name, _ in expected.weights)
        raise UserError(where, file=path, expected=f"{len(expected.weights)} arrays ({names})", found=len(found.arrays))
    for (name, shape), array in zip(expected.weights, found.arrays, strict=True):
        if array.shape != shape:
            raise UserError(f"{where}: {name}", file=path, expected=f"shape {shape}", found=f"{array.shape}")
