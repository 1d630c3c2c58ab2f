"""Train the demo task `digits_vgg`: 32 small VGG-like networks on the 8 x 8 digits of scikit-learn.

    python task_data/train_digits.py --out DIR [--limit N]

writes DIR/input_data/digits_vgg and DIR/reference_data/digits_vgg in the competition's layout. A model directory
that exists is finished and is kept, so running the same command again continues. The recipe follows the
competition's task 1 (Jiang et al. 2020, section 1.3) in small: stochastic gradient descent with momentum until the
cross-entropy of the whole training set, dropout switched off, reaches a target that is the same for all models.
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
    "batch_size": [8, 128],
    "dropout": [0.0, 0.5],
    "n_blocks": [1, 2],
    "n_filters": [8, 24],
    "weight_decay": [0.0, 0.003],
}
INPUT_SHAPE = [8, 8, 1]
N_CLASSES = 10
N_TRAIN = 384  # divisible by both batch sizes
N_SHARDS = 3
DENSE_UNITS = 32
LEARNING_RATE = 0.01
MOMENTUM = 0.9
TARGET_CROSS_ENTROPY = 0.02  # nats, mean over the training set in inference mode
MAX_EPOCHS = 600

Cell = dict[str, Any]
Arrays = tuple[np.ndarray, np.ndarray]


def cells() -> list[Cell]:
    """The 32 combinations of hyperparameters, in the order of the model ids."""
    return [dict(zip(GRID, values, strict=True)) for values in itertools.product(*GRID.values())]


def digits() -> tuple[Arrays, Arrays]:
    """Training and test (images, labels): float32 (N, 8, 8, 1) in [0, 1] and int32 (N,), stratified by class."""
    source = load_digits()
    images = (source.images / 16.0).astype(np.float32)[..., np.newaxis]
    labels = source.target.astype(np.int32)
    train_x, test_x, train_y, test_y = train_test_split(
        images, labels, train_size=N_TRAIN, stratify=labels, random_state=0
    )
    return (train_x, train_y), (test_x, test_y)


def write_shards(directory: Path, data: Arrays) -> None:
    """Write TFRecord shards as the competition's: bytes features `inputs` and `output`, one serialized tensor each."""
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
                writer.write(example.SerializeToString())


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


def build(layers: list[dict[str, Any]], **regularization: float) -> keras.Sequential:
    """Build the network; `dropout` after the hidden dense layer and `weight_decay` on kernels, for training only."""
    decay = regularization.get("weight_decay", 0.0)
    model = keras.Sequential([keras.Input(INPUT_SHAPE)])
    for definition in layers:
        options = {name: value for name, value in definition.items() if name != "layer_name"}
        if decay and "activation" in options or decay and "units" in options:
            options["kernel_regularizer"] = keras.regularizers.L2(decay)
        model.add(getattr(keras.layers, definition["layer_name"])(**options))
        if regularization.get("dropout") and definition.get("units") == DENSE_UNITS:
            model.add(keras.layers.Dropout(regularization["dropout"]))
    return model


class StopAtTarget(keras.callbacks.Callback):
    """Stop as soon as the cross-entropy of the whole training set, in inference mode, reaches the target."""

    def __init__(self, data: Arrays) -> None:
        super().__init__()
        self.data = data
        self.cross_entropy = float("inf")

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None) -> None:  # noqa: ARG002
        """Measure after every epoch; `logs` would count dropout and the weight penalty in."""
        images, labels = self.data
        losses = keras.losses.sparse_categorical_crossentropy(
            labels, self.model(images, training=False), from_logits=True
        )
        self.cross_entropy = float(np.mean(losses))
        self.model.stop_training = self.cross_entropy <= TARGET_CROSS_ENTROPY
