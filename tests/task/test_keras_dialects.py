"""Tests of models of Keras 2 and Keras 3: in the canonical form, they compute the same in either version."""

import json
import os
import sys
from pathlib import Path

import h5py
import numpy as np
import pytest
from forks import forks
from throwaway import write_weights

from harness.format.architecture import parse_architecture, read_architecture
from harness.format.weights import read_weights
from harness.task.layout import TaskDirectory
from harness.task.model import read_model
from harness.task.shapes import infer_shapes
from harness.task.task import read_task

pytestmark = pytest.mark.rest

SAMPLE = Path(os.environ.get("PGDL_CONFORMANCE_DATA", Path(__file__).parents[3] / "shared/data/pgdl")) / "toy_data"
needs_sample = pytest.mark.skipif(not SAMPLE.exists(), reason=f"no sample task of the competition at {SAMPLE}")

VERSIONS = ("keras2", "keras3")


def run(version, *arguments):
    """Run a command of keras_programs.py in plain Keras."""
    runtime, legacy = ("keras2", "1") if version == "keras2" else ("tensorflow", "0")
    environment = {**os.environ, "TF_USE_LEGACY_KERAS": legacy, "CUDA_VISIBLE_DEVICES": "-1"}
    program = Path(__file__).with_name("keras_programs.py")
    done = forks.run(runtime, [sys.executable, program, *arguments], environment)
    assert done.returncode == 0, done.stderr


def canonical(model, target, inputs):
    target.mkdir(parents=True)
    model.write_canonical(target)
    np.save(target / "inputs.npy", inputs)
    return target


@pytest.fixture(scope="module")
def models(tmp_path_factory, shared_cache):
    """Directory -> the model read from it, for each model and each version of Keras."""
    directory = tmp_path_factory.mktemp("written")
    for version in VERSIONS:
        run(version, "write", directory / version)
    architectures = {path: read_architecture(path) for path in sorted(directory.glob("*/*"))}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PGDL_CACHE", str(shared_cache))
        shapes = infer_shapes(architectures.values())
    return {path: read_model(path, a, shapes[a.digest]) for path, a in architectures.items()}


@pytest.fixture(scope="module")
def sample(shared_cache):
    """The sample task, or None if it is missing."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PGDL_CACHE", str(shared_cache))
        return read_task(TaskDirectory(SAMPLE).runnable()[0]) if SAMPLE.exists() else None


@pytest.fixture(scope="module")
def computed(tmp_path_factory, models, sample):
    """A directory with outputs of each version of Keras: VERSION/WRITER/MODEL, and VERSION/sample/MODEL."""
    directory = tmp_path_factory.mktemp("computed")
    for version in VERSIONS:
        targets = [
            canonical(model, directory / version / path.parent.name / path.name, np.load(path / "inputs.npy"))
            for path, model in models.items()
        ]
        if sample is not None:
            place = directory / version / "sample"
            targets += [canonical(model, place / model.id, sample.data.inputs) for model in sample.models]
        run(version, "forward", *targets)
    return directory


def test_every_dialect_in_every_version(models, computed):
    assert len(models) == 4
    for version in VERSIONS:
        for path in models:
            found = np.load(computed / version / path.parent.name / path.name / "outputs.npy")
            expected = np.load(path / "outputs.npy")
            np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5, err_msg=f"{path} in {version}")


def weights_in_order(path):
    """Return the arrays of each layer that has arrays, in the order of the file."""
    with h5py.File(path) as file:
        root = file.get("model_weights", file)
        layers = [root[name] for name in root.attrs["layer_names"]]
        return [[group[name][()] for name in names] for group in layers if len(names := group.attrs["weight_names"])]


def test_weights_without_known_names_are_taken_in_the_order_of_the_file(tmp_path, models):
    for path, model in models.items():
        stored = weights_in_order(path / "weights.hdf5")
        unnamed = tmp_path / path.parent.name / f"{path.name}.hdf5"
        write_weights(unnamed, stored, names=[f"l{i}" for i in range(len(stored))])
        by_name, by_order = (
            read_weights(file.read_bytes(), file, model.architecture, model.shapes)
            for file in (path / "weights.hdf5", unnamed)
        )
        for one, other in zip(by_name, by_order, strict=True):
            np.testing.assert_array_equal(one, other)


def test_a_file_may_list_layers_in_an_order_of_its_own(models):
    """The weights follow the file's order of layers, even if Keras would list the layers in another order."""
    path, model = next((path, model) for path, model in models.items() if path.name == "branches")
    content = json.loads((path / "config.json").read_text())
    layers = content["config"]["layers"]
    layers.insert(1, layers.pop(next(i for i, layer in enumerate(layers) if layer["name"] == "d_conv")))
    found = parse_architecture(content, path / "config.json")
    assert found.canonical == model.architecture.canonical
    assert list(found.file_order) != sorted(found.file_order) == list(model.architecture.file_order)


def test_nothing_about_training_is_shown(tmp_path, models):
    for number, model in enumerate(models.values()):
        target = canonical(model, tmp_path / str(number), ())
        text = (target / "architecture.json").read_text().lower()
        for hint in ("regularizer", "initializer", "l2", 'name": "', "stem", "weight_decay"):
            assert hint not in text.replace('class_name": "', "")
        shown = {layer["class_name"]: layer["config"] for layer in json.loads(text)["layers"]}
        idle = {name: shown[name] for name in shown if name.endswith(("dropout", "dropout2d", "noise"))}
        assert idle
        assert all(setting in ({"rate": 0}, {"stddev": 0}) for setting in idle.values())
        assert all(layer["class_name"] != "InputLayer" for layer in json.loads(text)["layers"])


@needs_sample
def test_sample_task_is_valid(pgdl):
    outcome = pgdl("task", "validate", SAMPLE)
    verdict = "toy_data: 18 models, 3 hyperparameters, 200 training samples, outputs are logits: valid"
    assert outcome.lines[0] == verdict
    assert all(line.startswith("toy_data: note: ") for line in outcome.lines[1:])
    assert outcome.code == 0


@needs_sample
def test_sample_task_computes_the_same_everywhere(sample, computed):
    """Keras 2, Keras 3 and a forward pass written here agree on every model of the sample task."""
    for version in VERSIONS:
        for model in sample.models:
            target = computed / version / "sample" / model.id
            expected = written_out(model.architecture.canonical["layers"], target, sample.data.inputs)
            np.testing.assert_allclose(np.load(target / "outputs.npy"), expected, rtol=1e-5, atol=1e-5)
    directory = computed / "keras3" / "sample"
    accuracies = [train_accuracy(directory / model.id, sample.data.labels) for model in sample.models]
    published = list(sample.reference.train_accuracy.values())
    np.testing.assert_allclose(accuracies, published, atol=1e-9)


def written_out(layers, directory, inputs):
    """Return the logits of a chain of dense layers, computed with NumPy."""
    activations = {"relu": lambda x: np.maximum(x, 0), "tanh": np.tanh, None: lambda x: x}
    values = np.asarray(inputs, np.float64)
    with np.load(directory / "weights.npz") as archive:
        for i, layer in enumerate(layers):
            values = values @ archive[f"w{2 * i}"] + archive[f"w{2 * i + 1}"]
            values = activations[layer["config"].get("activation")](values)
    return values


def train_accuracy(directory, labels):
    return float(np.mean(np.argmax(np.load(directory / "outputs.npy"), axis=1) == labels))
