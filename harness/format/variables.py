"""Reads weights from HDF5 files in the layout of Keras 3 (`.weights.h5`), in the architecture's order.

Layers are stored by class and number, `layers/dense_1/vars/0`, models and sublayers in groups of their own. Keras 2.12
to 2.14 wrote it, too: layers are in groups of another name there, and the numbers of a class may skip some.
"""

import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import h5py

from harness.errors import UserError
from harness.format.architecture import Architecture, LayerShapes, ModelShapes
from harness.format.files import natural
from harness.format.hdf5 import SIGNATURE, has_member, member, open_hdf5, require_plain_array
from harness.format.weights import Array, StoredLayer, StoredWeight, check_layer

#: Layers whose weights belong to sublayers, and the groups of these in the order of `get_weights()`.
_SUBLAYERS = {"MultiHeadAttention": ("query_dense", "key_dense", "value_dense", "output_dense")}

_LAYERS, _OLD_LAYERS = "layers", "_layer_checkpoint_dependencies"


def holds_variables(content: bytes, path: Path) -> bool:
    """Whether a file is in the layout of Keras 3; raises `UserError` if it is damaged."""
    if not content.startswith(SIGNATURE):
        return False
    with open_hdf5(io.BytesIO(content), path) as file:
        is_keras_2 = "layer_names" in file.attrs or "layer_names0" in file.attrs
        return not is_keras_2 and (has_member(file, _LAYERS) or has_member(file, _OLD_LAYERS))


def read_variables(content: bytes, path: Path, architecture: Architecture, shapes: ModelShapes) -> list[Array]:
    """Return the weights in `content`, the bytes of a file at `path`, in the order of `model.get_weights()`.

    No number is read before all shapes have been compared with the architecture.

    Raises:
        UserError: the file is damaged, in another layout or of another model, or a number is not finite.
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
    """Return the name in the file of a layer's group, `layers/model/layers/dense_1`."""
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
