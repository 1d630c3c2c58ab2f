"""Reads and writes HDF5 weight files in the layout of Keras 2; weights are in the order of the model's layers."""

import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness.errors import UserError
from harness.format.architecture import Architecture, LayerShapes, ModelShapes
from harness.format.files import START, located, other_kind, require_file
from harness.format.hdf5 import (
    MAX_NAMES,
    SIGNATURE,
    has_member,
    member,
    names,
    open_hdf5,
    require_plain_array,
    timeless_file,
    timeless_group,
)
from harness.reading import read_regular

Array = NDArray[np.float32]

#: Name of a layer, and (name such as `kernel`, array) of each of its weights in Keras' order.
NamedWeights = tuple[str, Sequence[tuple[str, NDArray[Any]]]]

#: Maximum size of a weight file in bytes: a number per parameter, and a fixed part. Files of whole models include the
#: optimizer's state.
BYTES_PER_PARAMETER = 64
SPARE_BYTES = 64 * 1024**2

#: Weights that Keras lists as not trained, although training changes them.
_NOT_TRAINED = ("moving_mean", "moving_variance")

_REMEDY = "write it with model.save('weights.hdf5') of Keras 3 or model.save_weights('weights.hdf5') of Keras 2"
_MERGE = "add the low-rank update (LoRA) to the kernel, as Keras 3 does when it saves a .keras file"


@dataclass(frozen=True)
class StoredWeight:
    """The name and shape of an array in an open weight file; `read` reads the numbers."""

    name: str
    stored: Any  #: h5py.Dataset of floating-point numbers

    @property
    def shape(self) -> tuple[int, ...] | None:
        """The shape that the file states."""
        shape: tuple[int, ...] | None = self.stored.shape
        return shape

    def read(self, path: Path) -> Array:
        """Return the array as float32; raises `UserError` unless all numbers are finite."""
        if self.stored.size and self.stored.nbytes != self.stored.id.get_storage_size():
            found = "none, the array was never written"
            raise UserError(f"weight {self.name}", file=path, expected="numbers", found=found)
        with located(path):
            return finite(f"weight {self.name}", self.stored[()])


def finite(name: str, numbers: Any) -> Array:
    """Return an array as float32; raises `UserError` with the array's `name` unless all numbers are finite."""
    with np.errstate(over="ignore"):
        array = np.asarray(numbers, dtype=np.float32)
    bad = int(np.size(array) - np.count_nonzero(np.isfinite(array)))
    if bad:
        raise UserError(name, expected="finite numbers", found=f"{bad} of {array.size} NaN or infinite")
    return array


@dataclass(frozen=True)
class StoredLayer:
    """A layer of a weight file: its name in the file, and its weights in the order of the file."""

    name: str
    weights: tuple[StoredWeight, ...]


def largest_file(shapes: ModelShapes) -> int:
    """Return the maximum size in bytes of a file with the weights of a model."""
    return BYTES_PER_PARAMETER * shapes.n_parameters + SPARE_BYTES


def read_weight_file(path: Path, shapes: ModelShapes) -> bytes:
    """Return the content of a weight file; raises `UserError` if it is larger than `largest_file`."""
    why = f" for {shapes.n_parameters} parameters"
    return read_regular(require_file(path), largest_file(shapes), links=True, why=why)


def read_weights(content: bytes, path: Path, architecture: Architecture, shapes: ModelShapes) -> list[Array]:
    """Return the weights in an HDF5 file in the layout of Keras 2, in the order of `model.get_weights()`.

    The file has only weights, or a whole model. Names and shapes are compared with the architecture before a weight is
    read. Raises `UserError` if the file is damaged, has another layout, does not fit the architecture, or has a number
    that is not finite.
    """
    if not content.startswith(SIGNATURE):
        raise other_kind("not HDF5", content[:START], file=path, expected="an HDF5 file of weights", remedy=_REMEDY)
    with open_hdf5(io.BytesIO(content), path) as file:
        root = member(file, "model_weights", path) or file
        _require_unflipped(root, shapes, path, len(content))
        stored = [layer for layer in _stored_layers(root, path, len(content)) if layer.weights]
        arrays = [weight.read(path) for weight in _arrange(stored, architecture, shapes, path)]
        wanted = [shape for layer in shapes.layers for _, shape in layer.weights]
        return [array.reshape(shape) for array, shape in zip(arrays, wanted, strict=True)]


def _require_unflipped(root: Any, shapes: ModelShapes, path: Path, size: int) -> None:
    """Raise `UserError` for convolutions that Keras saved on Theano: their kernels are mirrored."""
    is_of_theano = "backend" in root.attrs and names(root, "backend", size) == ["theano"]
    if is_of_theano and any("Conv" in layer.class_name for layer in shapes.layers):
        remedy = "load the model in Keras 2.3 on TensorFlow, which turns them, and save it again"
        raise UserError("backend", file=path, expected="tensorflow", found="kernels of theano", remedy=remedy)


def _stored_layers(root: Any, path: Path, size: int) -> Iterator[StoredLayer]:
    if "layer_names" not in root.attrs and "layer_names0" not in root.attrs:
        keras3 = has_member(root, "layers") or has_member(root, "_layer_checkpoint_dependencies")
        found = "the .weights.h5 layout of Keras 3" if keras3 else "no attribute layer_names"
        raise UserError("unknown layout", file=path, expected="the HDF5 layout of Keras 2", found=found, remedy=_REMEDY)
    total = 0
    for name in _names(root, "layer_names", path, size):
        group = member(root, name, path)
        if group is None:
            raise UserError(f"layer {name}", file=path, expected="a group of that name", found="none")
        weights = _names(group, "weight_names", path, size)
        total += len(weights)
        if total > MAX_NAMES:
            raise UserError("number of weights", file=path, expected=f"at most {MAX_NAMES} arrays", found="more")
        yield StoredLayer(name, tuple(_weight(group, weight, path) for weight in weights))


def _weight(group: Any, name: str, path: Path) -> StoredWeight:
    stored = member(group, name, path)
    if stored is None:
        raise UserError(f"weight {name}", file=path, expected="an array of that name", found="none")
    require_plain_array(stored, f"weight {name}", path)
    return StoredWeight(name, stored)


def _names(group: Any, attribute: str, path: Path, size: int) -> list[str]:
    """Return the list of names in an attribute; Keras divides long lists among several numbered attributes."""
    if attribute in group.attrs:
        chunks = [attribute]
    else:
        chunks = list(takewhile(group.attrs.__contains__, (f"{attribute}{n}" for n in range(MAX_NAMES))))
    try:
        return [name for chunk in chunks for name in names(group, chunk, size)]
    except UserError as error:
        raise UserError(str(error), file=path, remedy=_REMEDY) from error


def _arrange(
    stored: Sequence[StoredLayer], architecture: Architecture, shapes: ModelShapes, path: Path
) -> list[StoredWeight]:
    """Return a file's weights in the order of `model.get_weights()`.

    Layers are matched by name if the architecture and the file have the same names, otherwise by order. A file may
    store a nested model like a single layer. Raises `UserError` if layers, weights or shapes do not match.
    """
    positions = [i for i in architecture.file_order if shapes.layers[i].weights]
    alone = [(architecture.names[i], [i]) for i in positions]
    nested = _nested(positions, architecture)
    by_name = {layer.name: layer for layer in stored}
    for members in (alone, nested):
        if len(by_name) == len(stored) == len(members) and by_name.keys() == {name for name, _ in members}:
            matched = [(numbers, by_name[str(name)]) for name, numbers in members]
            break
    else:
        members = alone if len(stored) == len(alone) else nested
        if len(stored) != len(members):
            raise UserError(
                "number of weights",
                file=path,
                expected=_count([len(shapes.layers[i].weights) for i in positions]),
                found=_count([len(layer.weights) for layer in stored]),
                remedy="config.json and the weights seem to belong to different models",
            )
        matched = [(numbers, layer) for (_, numbers), layer in zip(members, stored, strict=True)]
    found: dict[int, tuple[StoredWeight, ...]] = {}
    for numbers, layer in matched:
        for position, part in _divided(numbers, layer, architecture, shapes):
            check_layer(position, shapes.layers[position], part, path)
            found[position] = part.weights
    return [weight for position in sorted(positions) for weight in found[position]]


def _nested(positions: Sequence[int], architecture: Architecture) -> list[tuple[str | None, list[int]]]:
    """Return (name, positions of its layers) of each nested model, and (name, [position]) of each other layer."""
    model_of = {i: name for name, numbers in architecture.models.items() for i in numbers}
    found: dict[str | int, tuple[str | None, list[int]]] = {}
    for i in positions:
        model = model_of.get(i)
        found.setdefault(i if model is None else model, (model or architecture.names[i], []))[1].append(i)
    return list(found.values())


def _divided(
    numbers: Sequence[int], stored: StoredLayer, architecture: Architecture, shapes: ModelShapes
) -> Iterator[tuple[int, StoredLayer]]:
    """Divide the weights of a nested model among its layers; yield (position, weights) of each layer.

    `stored` has the trainable weights of all layers first, then the others.
    """
    if len(numbers) == 1:
        yield numbers[0], stored
        return
    places = [(i, name) for i in numbers for name, _ in shapes.layers[i].weights]
    places.sort(key=lambda place: place[0] in architecture.frozen or place[1] in _NOT_TRAINED)
    own: dict[int, dict[str, StoredWeight]] = {i: {} for i in numbers}
    for (i, name), weight in zip(places, stored.weights, strict=False):
        own[i][name] = weight
    if len(stored.weights) != len(places):
        expected = _count([len(shapes.layers[i].weights) for i in numbers])
        raise UserError(f"model {stored.name}", expected=expected, found=f"{len(stored.weights)} arrays")
    for i, weights in own.items():
        names = [name for name, _ in shapes.layers[i].weights]
        yield i, StoredLayer(f"{stored.name}, {architecture.names[i]}", tuple(weights[name] for name in names))


def _count(arrays_per_layer: Sequence[int]) -> str:
    return f"{sum(arrays_per_layer)} arrays in {len(arrays_per_layer)} layers"


def check_layer(position: int, expected: LayerShapes, found: StoredLayer, path: Path) -> None:
    """Raise `UserError` unless the weights of a layer in a file have the number and shapes in `expected`."""
    where = f"layer {position} ({expected.class_name}), {found.name!r} in the file"
    if len(found.weights) != len(expected.weights):
        names = ", ".join(name for name, _ in expected.weights)
        has_update = any("lora_" in weight.name for weight in found.weights)
        raise UserError(
            where, file=path, expected=f"{len(expected.weights)} arrays ({names})", found=len(found.weights),
            remedy=_MERGE if has_update else None,
        )  # fmt: skip
    for (name, shape), weight in zip(expected.weights, found.weights, strict=True):
        is_of_virtual_batches = expected.class_name == "BatchNormalization" and _without_ones(weight.shape) == shape
        if weight.shape != shape and not is_of_virtual_batches:
            raise UserError(f"{where}: {name}", file=path, expected=f"shape {shape}", found=f"{weight.shape}")


def _without_ones(shape: tuple[int, ...] | None) -> tuple[int, ...]:
    """Return (n,) for a shape (1, ..., 1, n), which Keras 2 writes for virtual batches; () for any other shape."""
    return () if shape is None or set(shape[:-1]) - {1} else shape[-1:]


def write_worker_weights(path: Path, arrays: Sequence[Array]) -> None:
    """Write weights for a worker: an `.npz` file with the arrays w0, w1, ... in the order of `get_weights()`."""
    named: dict[str, Any] = {f"w{number}": array for number, array in enumerate(arrays)}
    np.savez(path, **named)


def write_weights(path: Path, layers: Sequence[NamedWeights]) -> None:
    """Write weights in the HDF5 layout of the competition (Keras 2.4). The bytes depend only on weights and names."""
    path.parent.mkdir(parents=True, exist_ok=True)
    image = io.BytesIO()  # written to disk in one step at the end: on a full disk HDF5 crashes while cleaning up
    with timeless_file(image) as file:
        file.attrs["backend"] = np.bytes_("tensorflow")  # fixed length, which avoids a heap of 4 kB
        file.attrs["keras_version"] = np.bytes_("2.4.0")
        file.attrs["layer_names"] = np.array([name for name, _ in layers], dtype=np.bytes_)
        for layer, weights in layers:
            group = timeless_group(file, layer)
            group.attrs["weight_names"] = np.array([f"{layer}/{name}:0" for name, _ in weights], dtype=np.bytes_)
            inner = timeless_group(group, layer)
            for name, array in weights:
                inner.create_dataset(f"{name}:0", data=array, track_times=False)
    path.write_bytes(image.getvalue())
