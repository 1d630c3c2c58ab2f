"""Writes the files of a task as the competition has them, without TensorFlow.

The same content gives the same bytes, whenever and wherever it is written.
"""

import io
import json
import struct
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import google_crc32c
import h5py
import numpy as np
from numpy.typing import NDArray

from harness.task.messages import FLOAT32, INT32, Example, TensorProto

if TYPE_CHECKING:
    from harness.corpus.recipe import Recipe

#: A layer's name, and its weights with their names (`kernel`) in the order of Keras.
NamedWeights = tuple[str, Sequence[tuple[str, NDArray[Any]]]]


def write_shards(directory: Path, inputs: NDArray[Any], labels: NDArray[Any], n_shards: int = 2) -> None:
    """Write float32 inputs and int32 labels as TFRecord shards, one part of the samples after the other."""
    directory.mkdir(parents=True, exist_ok=True)
    inputs, labels = np.asarray(inputs, np.float32), np.asarray(labels, np.int32)
    for number, part in enumerate(np.array_split(np.arange(len(inputs)), n_shards)):
        payloads = [example(inputs=tensor(inputs[i]), output=tensor(labels[i])) for i in part]
        write_records(directory / f"shard_{number}.tfrecord", payloads)


def write_records(path: Path, payloads: Sequence[bytes]) -> None:
    """Write a TFRecord file: length, its checksum, payload, its checksum."""
    with path.open("wb") as stream:
        for payload in payloads:
            length = struct.pack("<Q", len(payload))
            for content in (length, payload):
                stream.write(content + _masked_crc(content))


def example(**features: bytes) -> bytes:
    """Return a serialized tf.train.Example of bytes features."""
    message = Example()
    for name, value in features.items():
        message.features.feature[name].bytes_list.value.append(value)
    return bytes(message.SerializeToString(deterministic=True))


def tensor(array: Any, dtype: int | None = None) -> bytes:
    """Return a serialized tensor; `dtype` is TensorFlow's number of the type, which follows from the array."""
    array = np.asarray(array)
    dtype = dtype or (INT32 if np.issubdtype(array.dtype, np.integer) else FLOAT32)
    message = TensorProto(dtype=dtype, tensor_content=array.tobytes())
    for size in array.shape:
        message.tensor_shape.dim.add(size=size)
    return bytes(message.SerializeToString(deterministic=True))


def write_weights(path: Path, layers: Sequence[NamedWeights]) -> None:
    """Write weights in the HDF5 layout of Keras 2.4, in which the competition saved them and Keras 3 reads them.

    Nothing in the file depends on when it was written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    image = io.BytesIO()  # written at once at the end: on a full disk HDF5 crashes while it cleans up
    with _timeless_file(image) as file:
        file.attrs["backend"] = np.bytes_("tensorflow")  # of fixed length: no heap of 4 kB
        file.attrs["keras_version"] = np.bytes_("2.4.0")
        file.attrs["layer_names"] = np.array([name for name, _ in layers], dtype=np.bytes_)
        for layer, weights in layers:
            group = _timeless_group(file, layer)
            group.attrs["weight_names"] = np.array([f"{layer}/{name}:0" for name, _ in weights], dtype=np.bytes_)
            inner = _timeless_group(group, layer)
            for name, array in weights:
                inner.create_dataset(f"{name}:0", data=array, track_times=False)
    path.write_bytes(image.getvalue())


def _timeless_file(image: io.BytesIO) -> h5py.File:
    """Create an HDF5 file that does not say when; h5py has no other way to ask for it."""
    creation, access = h5py.h5p.create(h5py.h5p.FILE_CREATE), h5py.h5p.create(h5py.h5p.FILE_ACCESS)
    creation.set_obj_track_times(False)
    access.set_libver_bounds(h5py.h5f.LIBVER_V18, h5py.h5f.LIBVER_V18)  # half the overhead of the oldest format
    access.set_fileobj_driver(h5py.h5fd.fileobj_driver, image)
    return h5py.File(h5py.h5f.create(b"weights", h5py.h5f.ACC_TRUNC, creation, access))


def _timeless_group(parent: h5py.Group, name: str) -> h5py.Group:
    creation = h5py.h5p.create(h5py.h5p.GROUP_CREATE)
    creation.set_obj_track_times(False)
    return h5py.Group(h5py.h5g.create(parent.id, name.encode(), gcpl=creation))


def write_reference(path: Path, recipe: "Recipe", metrics: Mapping[int, Mapping[str, float]]) -> None:
    """Write model_configs.json: the hyperparameters and the metrics of the cells that `metrics` has."""
    entries = {
        str(cell.number): {
            "hparams": {
                name: {"possible_values": recipe.grid[name], "current_value": value}
                for name, value in cell.hyperparameters.items()
            },
            "metrics": dict(metrics[cell.number]),
        }
        for cell in recipe.cells
        if cell.number in metrics
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(entries, indent=2))


def _masked_crc(content: bytes) -> bytes:
    crc = google_crc32c.value(content)
    return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)
