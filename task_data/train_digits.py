"""Train the demo task `digits_vgg`: 32 small VGG-like networks on the 8 x 8 digits of scikit-learn.

    python task_data/train_digits.py --out DIR [--limit N]

writes DIR/input_data/digits_vgg and DIR/reference_data/digits_vgg in the competition's layout. A model
directory that exists is finished and is kept, so running the same command again continues.

The recipe follows task 1 of the competition (Jiang et al. 2020, section 1.3) in small: stochastic gradient
descent with momentum until the cross-entropy of the whole training set, in inference mode, reaches a target
that is the same for all models. Every model has a seed of its own, fixed by its number.
"""

import argparse
import itertools
import json
import os
import shutil
from pathlib import Path
from typing import Any

os.environ["KERAS_BACKEND"] = "tensorflow"
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import h5py
import keras
import numpy as np
import tensorflow as tf
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

TASK = "digits_vgg"
#: The full grid; one model per cell, numbered in this order with the last name running fastest.
GRID: dict[str, list[Any]] = {
    "batch_size": [8, 160],
    "dropout": [0.0, 0.5],
    "n_blocks": [1, 3],
    "n_filters": [8, 24],
    "weight_decay": [0.0, 0.003],
}
INPUT_SHAPE = [8, 8, 1]
N_CLASSES = 10
N_TRAIN = 320  # few, so that the gaps are wide; divisible by both batch sizes
N_SHARDS = 3
SEED = 2020  # model number N starts from SEED + N
DENSE_UNITS = 32
LEARNING_RATE = 0.004
MOMENTUM = 0.9
TARGET_CROSS_ENTROPY = 0.02  # nats, mean over the training set in inference mode
MAX_EPOCHS = 1500

Cell = dict[str, Any]
Arrays = tuple[np.ndarray, np.ndarray]


def cells() -> list[Cell]:
    """The 32 combinations of hyperparameters, in the order of the model ids."""
    return [dict(zip(GRID, values, strict=True)) for values in itertools.product(*GRID.values())]


def digits() -> tuple[Arrays, Arrays]:
    """Training and test data, stratified by class: images float32 (N, 8, 8, 1) in [0, 1], labels int32 (N,)."""
    source = load_digits()
    images = (source.images / 16.0).astype(np.float32)[..., np.newaxis]
    labels = source.target.astype(np.int32)
    train_x, test_x, train_y, test_y = train_test_split(
        images, labels, train_size=N_TRAIN, stratify=labels, random_state=0
    )
    return (train_x, train_y), (test_x, test_y)


def write_shards(directory: Path, data: Arrays) -> None:
    """Write TFRecord shards as the competition's: features `inputs` and `output`, one serialized tensor each."""
    directory.mkdir(parents=True, exist_ok=True)
    for shard in range(N_SHARDS):
        with tf.io.TFRecordWriter(str(directory / f"shard_{shard}.tfrecord")) as writer:
            for image, label in zip(*(array[shard::N_SHARDS] for array in data), strict=True):
                tensors = {"inputs": tf.constant(image), "output": tf.constant(label)}
                features = {
                    name: tf.train.Feature(
                        bytes_list=tf.train.BytesList(value=[tf.io.serialize_tensor(tensor).numpy()])
                    )
                    for name, tensor in tensors.items()
                }
                example = tf.train.Example(features=tf.train.Features(feature=features))
                writer.write(example.SerializeToString(deterministic=True))


def architecture(cell: Cell) -> list[dict[str, Any]]:
    """The network as the list of layers of `config.json`: conv-conv-pool blocks, one dense layer, logits."""
    conv = {
        "layer_name": "Conv2D",
        "filters": cell["n_filters"],
        "kernel_size": [3, 3],
        "padding": "same",
        "activation": "relu",
    }
    block = [conv, conv, {"layer_name": "MaxPooling2D", "pool_size": [2, 2], "strides": [2, 2]}]
    head = [
        {"layer_name": "Flatten"},
        {"layer_name": "Dense", "units": DENSE_UNITS, "activation": "relu"},
        {"layer_name": "Dense", "units": N_CLASSES},
    ]
    return block * cell["n_blocks"] + head


def build(definitions: list[dict[str, Any]]) -> keras.Sequential:
    """Build the network that `config.json` describes, He-initialized."""
    model = keras.Sequential([keras.Input(INPUT_SHAPE)])
    for definition in definitions:
        options = {name: value for name, value in definition.items() if name != "layer_name"}
        if "activation" in options:
            options["kernel_initializer"] = "he_normal"
        model.add(getattr(keras.layers, definition["layer_name"])(**options))
    return model


def with_training_aids(model: keras.Sequential, cell: Cell) -> keras.Sequential:
    """The same layers with dropout before the logits and an L2 penalty on every kernel: neither is saved."""
    for layer in model.layers:
        if cell["weight_decay"] and hasattr(layer, "kernel"):
            layer.kernel.regularizer = keras.regularizers.L2(cell["weight_decay"])
    *body, logits = model.layers
    dropout = [keras.layers.Dropout(cell["dropout"])] if cell["dropout"] else []
    return keras.Sequential([keras.Input(INPUT_SHAPE), *body, *dropout, logits])


class StopAtTarget(keras.callbacks.Callback):
    """Stop as soon as the cross-entropy of the whole training set, in inference mode, reaches the target."""

    def __init__(self, data: Arrays) -> None:
        super().__init__()
        self.data = data
        self.cross_entropy = float("inf")

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        """Measure after every epoch; `logs` would count dropout and the L2 penalty in."""
        images, labels = self.data
        losses = keras.losses.sparse_categorical_crossentropy(
            labels, self.model(images, training=False), from_logits=True
        )
        self.cross_entropy = float(np.mean(losses))
        self.model.stop_training = self.cross_entropy <= TARGET_CROSS_ENTROPY


def train(model: keras.Sequential, cell: Cell, data: Arrays) -> str:
    """Train `model` in place and say in one line how it went.

    Raises:
        RuntimeError: the target was not reached, so the model cannot be compared with the others.
    """
    training = with_training_aids(model, cell)
    training.compile(
        optimizer=keras.optimizers.SGD(LEARNING_RATE, momentum=MOMENTUM),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        steps_per_execution=N_TRAIN // cell["batch_size"],  # a whole epoch in one call
    )
    target = StopAtTarget(data)
    history = training.fit(*data, batch_size=cell["batch_size"], epochs=MAX_EPOCHS, verbose=0, callbacks=[target])
    if target.cross_entropy > TARGET_CROSS_ENTROPY:
        raise RuntimeError(f"cross-entropy {target.cross_entropy:.4f} after {MAX_EPOCHS} epochs: {cell}")
    return f"{len(history.epoch)} epochs, cross-entropy {target.cross_entropy:.4f}"


def save_weights(model: keras.Sequential, path: Path) -> None:
    """Write the HDF5 layout of Keras 2.4, in which the competition saved weights and which Keras 3 reads."""
    with h5py.File(path, "w", libver=("v108", "v108")) as file:  # half the overhead of the oldest format
        file.attrs["backend"] = np.bytes_("tensorflow")  # of fixed length: no heap of 4 kB
        file.attrs["keras_version"] = np.bytes_("2.4.0")
        file.attrs["layer_names"] = np.array([layer.name for layer in model.layers], dtype=np.bytes_)
        for layer in model.layers:
            group = file.create_group(layer.name)
            names = [f"{layer.name}/{weight.name}:0" for weight in layer.weights]
            group.attrs["weight_names"] = np.array(names, dtype=np.bytes_)
            for name, values in zip(names, layer.get_weights(), strict=True):
                group.create_dataset(name, data=values)


def train_cell(directory: Path, number: int, cell: Cell, data: Arrays) -> None:
    """Train the model of one cell into `directory`, which appears only when it is complete."""
    keras.utils.clear_session()  # the layers' names start from the beginning in every model
    keras.utils.set_random_seed(SEED + number)
    definitions = architecture(cell)
    model = build(definitions)
    unfinished = directory.with_name(f"unfinished_{directory.name}")
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir(parents=True)
    config = {"model_config": definitions, "input_shape": INPUT_SHAPE}
    (unfinished / "config.json").write_text(json.dumps(config, indent=2))
    save_weights(model, unfinished / "weights_init.hdf5")
    summary = train(model, cell, data)
    save_weights(model, unfinished / "weights.hdf5")
    unfinished.rename(directory)
    print(f"{directory.name} {cell}: {summary}", flush=True)


def accuracy(directory: Path, data: Arrays) -> float:
    """Fraction of `data` that the saved model of `directory` classifies correctly."""
    model = build(json.loads((directory / "config.json").read_text())["model_config"])
    model.load_weights(directory / "weights.hdf5")
    images, labels = data
    predicted = np.argmax(model(images, training=False), axis=1)
    return float(np.mean(predicted == labels))


def describe(directory: Path, cell: Cell, train_data: Arrays, test_data: Arrays) -> dict[str, Any]:
    """One entry of `model_configs.json`; the accuracies are those of the files as they lie on disk."""
    return {
        "hparams": {name: {"possible_values": GRID[name], "current_value": value} for name, value in cell.items()},
        "metrics": {
            "train_acc": accuracy(directory, train_data),
            "test_acc": accuracy(directory, test_data),
        },
    }


def report(configs: dict[str, Any]) -> None:
    """Print the spread of the gaps and their mean for every value of every hyperparameter."""
    gaps = {key: c["metrics"]["train_acc"] - c["metrics"]["test_acc"] for key, c in configs.items()}
    values = np.array(list(gaps.values()))
    print(f"gap: min {values.min():.4f}, median {np.median(values):.4f}, max {values.max():.4f}")
    print(f"lowest training accuracy: {min(c['metrics']['train_acc'] for c in configs.values()):.4f}")
    for name, possible in GRID.items():
        for value in possible:
            chosen = [gap for key, gap in gaps.items() if configs[key]["hparams"][name]["current_value"] == value]
            if chosen:
                print(f"  {name} = {value}: mean gap {np.mean(chosen):.4f}")


def main() -> None:
    """Write the whole task."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True, help="directory that gets input_data and reference_data")
    parser.add_argument("--limit", type=int, default=None, help="train only the first N models")
    arguments = parser.parse_args()
    tf.config.threading.set_intra_op_parallelism_threads(1)  # the same sums on every machine with this CPU
    tf.config.threading.set_inter_op_parallelism_threads(1)

    models = arguments.out / "input_data" / TASK
    reference = arguments.out / "reference_data" / TASK / "model_configs.json"
    train_data, test_data = digits()
    write_shards(models / "dataset_1" / "train", train_data)
    write_shards(models / "dataset_1" / "test", test_data)
    configs = {}
    for number, cell in enumerate(cells()[: arguments.limit]):
        directory = models / f"model_{number}"
        if not directory.exists():
            train_cell(directory, number, cell, train_data)
        configs[str(number)] = describe(directory, cell, train_data, test_data)
    reference.parent.mkdir(parents=True, exist_ok=True)
    reference.write_text(json.dumps(configs, indent=2))
    report(configs)


if __name__ == "__main__":
    main()
