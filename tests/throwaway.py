"""Writes a tiny valid competition in milliseconds, without TensorFlow: something to run, score and break.

    task = make_task(tmp_path)                                # tmp_path/tiny/{model_0..model_7,dataset_1,...}
    task = make_task(tmp_path, layout="full", gaps=[...])     # input_data/tiny and reference_data/tiny

Eight Dense networks from 4 inputs to 3 classes, one for each combination of three binary hyperparameters.
"""

import itertools
import json
import struct
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import google_crc32c
import h5py
import numpy as np

from harness.task.messages import FLOAT32, INT32, Example, TensorProto

INPUT_SHAPE = (4,)
N_CLASSES = 3
HYPERPARAMETERS: dict[str, list[Any]] = {"activation": ["relu", "tanh"], "depth": [1, 2], "width": [4, 6]}
GAPS = (0.10, 0.20, 0.15, 0.30, 0.12, 0.22, 0.05, 0.40)

Layer = dict[str, Any]
Weights = list[list[np.ndarray]]  # per layer


def make_task(
    directory: Path,
    *,
    name: str = "tiny",
    layout: Literal["flat", "full"] = "flat",
    gaps: Sequence[float] = GAPS,
    reference: bool = True,
    initial_weights: bool = True,
    n_train: int = 24,
    n_test: int = 12,
    n_shards: int = 2,
    seed: int = 0,
) -> Path:
    """Write a task into `directory` and return the directory of its models.

    Args:
        gaps: generalization gap of model_0 to model_7, in [0, 1]; the train accuracy is always 1.
        reference: whether to write model_configs.json; hidden tasks have none.
        initial_weights: whether to write weights_init.hdf5, which differs from weights.hdf5.
        seed: decides weights and data.
    """
    random = np.random.default_rng(seed)
    task = directory / name if layout == "flat" else directory / "input_data" / name
    cells = [dict(zip(HYPERPARAMETERS, values, strict=True)) for values in itertools.product(*HYPERPARAMETERS.values())]
    for number, cell in enumerate(cells):
        write_model(task / f"model_{number}", dense_layers(**cell), random, initial_weights)
    for part, n_samples in (("train", n_train), ("test", n_test)):
        inputs = random.normal(size=(n_samples, *INPUT_SHAPE)).astype(np.float32)
        labels = (np.arange(n_samples) % N_CLASSES).astype(np.int32)
        write_shards(task / "dataset_1" / part, inputs, labels, n_shards)
    if reference:
        holder = task if layout == "flat" else directory / "reference_data" / name
        write_json(holder / "model_configs.json", model_configs(cells, gaps))
    return task


def dense_layers(activation: str, depth: int, width: int) -> list[Layer]:
    """`depth` hidden layers and a layer of logits; units are written as floats, as the competition does."""
    hidden = {"layer_name": "Dense", "units": float(width), "activation": activation}
    return [dict(hidden) for _ in range(depth)] + [{"layer_name": "Dense", "units": float(N_CLASSES)}]


def model_configs(cells: Sequence[Mapping[str, Any]], gaps: Sequence[float] = GAPS) -> dict[str, Any]:
    """The content of model_configs.json, ids without `model_`."""
    return {
        str(number): {
            "hparams": {
                name: {"possible_values": values, "current_value": cell[name]}
                for name, values in HYPERPARAMETERS.items()
            },
            "metrics": {"train_acc": 1.0, "test_acc": 1.0 - gap},
        }
        for number, (cell, gap) in enumerate(zip(cells, gaps, strict=True))
    }


def write_model(
    directory: Path, layers: Sequence[Layer], random: np.random.Generator, initial_weights: bool = True
) -> None:
    """Write config.json and random weights of a chain of Dense layers."""
    write_json(directory / "config.json", {"model_config": list(layers), "input_shape": list(INPUT_SHAPE)})
    write_weights(directory / "weights.hdf5", dense_weights(layers, random))
    if initial_weights:
        write_weights(directory / "weights_init.hdf5", dense_weights(layers, random))


def dense_weights(layers: Sequence[Layer], random: np.random.Generator) -> Weights:
    """Random kernel and bias of each layer."""
    sizes = [INPUT_SHAPE[0], *(int(layer["units"]) for layer in layers)]
    return [
        [random.normal(size=shape).astype(np.float32) for shape in ((n_in, n_out), (n_out,))]
        for n_in, n_out in itertools.pairwise(sizes)
    ]


def write_weights(path: Path, weights: Weights, names: Sequence[str] = (), group: str | None = None) -> None:
    """Write an HDF5 file in the layout of Keras 2; `names` of layers default to dense, dense_1, ..."""
    path.parent.mkdir(parents=True, exist_ok=True)
    names = names or [f"dense_{i}" if i else "dense" for i in range(len(weights))]
    with h5py.File(path, "w") as file:
        root = file.create_group(group) if group else file
        root.attrs["layer_names"] = [name.encode() for name in names]
        for name, arrays in zip(names, weights, strict=True):
            layer = root.create_group(name)
            weight_names = [f"{name}/weight_{i}:0" for i in range(len(arrays))]
            layer.attrs["weight_names"] = [weight_name.encode() for weight_name in weight_names]
            for weight_name, array in zip(weight_names, arrays, strict=True):
                layer[weight_name] = array


def write_shards(directory: Path, inputs: np.ndarray, labels: np.ndarray, n_shards: int = 2) -> None:
    """Write float32 inputs and int32 labels as TFRecord shards, one part of the samples after the other."""
    directory.mkdir(parents=True, exist_ok=True)
    for number, part in enumerate(np.array_split(np.arange(len(inputs)), n_shards)):
        payloads = [example(inputs=tensor(inputs[i]), output=tensor(labels[i])) for i in part]
        write_records(directory / f"shard_{number}.tfrecord", payloads)


def write_records(path: Path, payloads: Sequence[bytes]) -> None:
    """Write a TFRecord file."""
    with path.open("wb") as stream:
        for payload in payloads:
            length = struct.pack("<Q", len(payload))
            for content in (length, payload):
                stream.write(content + _masked_crc(content))


def example(**features: bytes) -> bytes:
    """A serialized tf.train.Example of bytes features."""
    message = Example()
    for name, value in features.items():
        message.features.feature[name].bytes_list.value.append(value)
    return message.SerializeToString()


def tensor(array: Any, dtype: int | None = None) -> bytes:
    """A serialized tensor; `dtype` is TensorFlow's number of the type, which follows from the array."""
    array = np.asarray(array)
    dtype = dtype or (INT32 if np.issubdtype(array.dtype, np.integer) else FLOAT32)
    message = TensorProto(dtype=dtype, tensor_content=array.tobytes())
    for size in array.shape:
        message.tensor_shape.dim.add(size=size)
    return message.SerializeToString()


def write_json(path: Path, content: Any) -> None:
    """Write JSON, with the directories that lead to it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content))


def edit_json(path: Path, change: Callable[[Any], Any]) -> None:
    """Change the content of a JSON file in place."""
    content = json.loads(path.read_text())
    change(content)
    write_json(path, content)


def _masked_crc(content: bytes) -> bytes:
    crc = google_crc32c.value(content)
    return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)
