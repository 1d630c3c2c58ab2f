"""Tests of the baselines on the competition's own sample task, against values recomputed with NumPy alone."""

import json
import math
import os
import shutil
from pathlib import Path

import h5py
import numpy as np
import pytest
from real_runs import records

from harness.task.data import read_training_data

ROOT = Path(__file__).parents[2]
SAMPLE = Path(os.environ.get("PGDL_CONFORMANCE_DATA", ROOT.parent / "shared" / "data" / "pgdl")) / "toy_data"
MODELS = ("model_0", "model_9", "model_16")  # one to three hidden layers, relu and tanh

pytestmark = pytest.mark.skipif(not SAMPLE.exists(), reason=f"the competition's sample task is not at {SAMPLE}")


@pytest.fixture(scope="module")
def values(tmp_path_factory, pgdl, sandbox):
    """(measure, model) -> value, from a real run on three of the sample's models."""
    directory = tmp_path_factory.mktemp("sample")
    for part in (*MODELS, "dataset_1"):
        shutil.copytree(SAMPLE / part, directory / "toy" / part)
    measures = ("num_params", "vc_dim", "distance_from_init", "jacobian_norm")
    done = pgdl("run", *measures, "--tasks", directory, "--results", directory / "r.db")
    assert done.returncode == 0, done.stdout + done.stderr
    return {(row["submission"], row["model"]): row["value"] for row in records(directory / "r.db")}


def kernels_and_biases(model, file):
    with h5py.File(SAMPLE / model / file) as stored:
        layers = [stored[name] for name in stored.attrs["layer_names"]]
        return [tuple(np.array(layer[name], np.float64) for name in layer.attrs["weight_names"]) for layer in layers]


@pytest.mark.parametrize("model", MODELS)
def test_values(values, model):
    layers, before = (kernels_and_biases(model, f"{name}.hdf5") for name in ("weights", "weights_init"))
    size, depth = sum(kernel.size for kernel, _ in layers), len(layers)
    pairs = zip(layers, before, strict=True)
    distance = sum(((a - b) ** 2).sum() for now, then in pairs for a, b in zip(now, then, strict=True))
    config = json.loads((SAMPLE / model / "config.json").read_text())["model_config"]
    inputs = np.array(read_training_data(SAMPLE / "dataset_1" / "train").inputs, np.float64)
    batches = [inputs[start : start + 16] for start in range(0, len(inputs), 16)][:33]
    squares = [mean_square(layers, config[0]["activation"] == "relu", batch) for batch in batches]
    assert values["num_params", model] == size
    assert values["vc_dim", model] == pytest.approx(depth + 2 * depth * math.log(22 * depth * 32**2) * size)
    assert values["distance_from_init", model] == pytest.approx(distance, rel=1e-5)
    assert values["jacobian_norm", model] == pytest.approx(np.mean(squares), rel=1e-4)


def mean_square(layers, relu, batch):
    """Return the mean over layers of the mean square of the derivatives d logits / d input of the layer."""
    slopes, hidden = [], batch
    for kernel, bias in layers[:-1]:
        before = hidden @ kernel + bias
        hidden = np.maximum(before, 0) if relu else np.tanh(before)
        slopes.append((before > 0).astype(float) if relu else 1 - hidden**2)
    jacobian = np.broadcast_to(layers[-1][0].T, (len(batch), *layers[-1][0].T.shape))  # (batch, classes, units)
    squares = [np.mean(jacobian**2)]
    for (kernel, _), slope in zip(reversed(layers[:-1]), reversed(slopes), strict=True):
        jacobian = (jacobian * slope[:, None, :]) @ kernel.T
        squares.append(np.mean(jacobian**2))
    return np.mean(squares)
