"""Writes `.keras` files and tables by hand, without Keras; tests import them, or break them first."""

import csv
import io
import itertools
import json
import zipfile
from pathlib import Path

import h5py
import numpy as np

from tests.throwaway import HYPERPARAMETERS, dense_weights

N_INPUTS, N_CLASSES = 4, 3


def dense(units, activation="linear", **more):
    config = {"units": units, "activation": activation, "use_bias": True, "dtype": {"config": {"name": "float32"}}}
    return {"module": "keras.layers", "class_name": "Dense", "registered_name": None, "config": config | more}


def sequential(*layers):
    source = {"class_name": "InputLayer", "module": "keras.layers", "config": {"batch_shape": [None, N_INPUTS]}}
    named = [{**layer, "config": {"name": f"l{n}", **layer["config"]}} for n, layer in enumerate((source, *layers))]
    return {"module": "keras", "class_name": "Sequential", "registered_name": None, "config": {"layers": named}}


def network(activation, depth, width):
    return sequential(*[dense(width, activation)] * depth, dense(N_CLASSES))


def weights_of(depth, width, seed):
    return dense_weights([{"units": width}] * depth + [{"units": N_CLASSES}], np.random.default_rng(seed))


def outputs(activation, weights, inputs):
    """Return the network's outputs, computed with NumPy."""
    act = {"relu": lambda x: np.maximum(x, 0), "tanh": np.tanh}[activation]
    for kernel, bias in weights[:-1]:
        inputs = act(inputs @ kernel + bias)
    return inputs @ weights[-1][0] + weights[-1][1]


def hdf5(weights):
    """Return the bytes of a `.weights.h5` file of a chain of dense layers."""
    image = io.BytesIO()
    with h5py.File(image, "w") as file:
        for n, arrays in enumerate(weights):
            for k, array in enumerate(arrays):
                file[f"layers/dense{f'_{n}' if n else ''}/vars/{k}"] = array
    return image.getvalue()


def write_keras(path, config, weights, **members):
    content = {"metadata.json": "{}", "config.json": json.dumps(config), "model.weights.h5": weights} | members
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in content.items():
            if data is not None:
                archive.writestr(name, data)


def write_table(path, rows):
    with path.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def write_models(folder: Path):
    """Write eight models, models.csv and data.npz; return the rows, and the true accuracies of each model."""
    random = np.random.default_rng(0)
    data = {}
    for part, count in (("train", 40), ("test", 20)):
        data[f"x_{part}"] = random.normal(size=(count, N_INPUTS))
        data[f"y_{part}"] = random.integers(N_CLASSES, size=count)
    np.savez_compressed(folder / "data.npz", **data)
    rows, accuracies = [], []
    for n, values in enumerate(itertools.product(*HYPERPARAMETERS.values())):
        cell = dict(zip(HYPERPARAMETERS, values, strict=True))
        weights = weights_of(cell["depth"], cell["width"], n)
        write_keras(folder / f"m{n}.keras", network(**cell), hdf5(weights))
        rows.append({"file": f"m{n}.keras", **cell, "train_accuracy": "", "test_accuracy": ""})
        found = {part: outputs(cell["activation"], weights, data[f"x_{part}"]) for part in ("train", "test")}
        accuracies.append([float(np.mean(out.argmax(1) == data[f"y_{part}"])) for part, out in found.items()])
    write_table(folder / "models.csv", rows)
    return rows, accuracies
