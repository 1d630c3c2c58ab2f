"""The shipped demo task is what its records say."""

import itertools
import json
import shutil
import subprocess
import sys

import numpy as np
import pytest
from measure_values import DEMO, TASK_DATA, read_dataset, read_model

CONFIGS = json.loads((TASK_DATA / "reference_data" / "digits_vgg" / "model_configs.json").read_text())


def gap(metrics):
    return metrics["train_acc"] - metrics["test_acc"]


def test_size_is_at_most_five_megabytes():
    assert sum(path.stat().st_size for path in TASK_DATA.rglob("*") if path.is_file()) <= 5_000_000


def test_one_model_in_every_cell_of_the_grid():
    possible = {name: value["possible_values"] for name, value in CONFIGS["0"]["hparams"].items()}
    assert [len(values) for values in possible.values()] == [2] * 5
    cells = [tuple(value["current_value"] for value in c["hparams"].values()) for c in CONFIGS.values()]
    assert sorted(cells) == sorted(itertools.product(*possible.values()))
    assert {path.name for path in DEMO.glob("model_*")} == {f"model_{number}" for number in CONFIGS}


def test_architectures_show_the_grid_and_nothing_about_training():
    for number, entry in CONFIGS.items():
        layers = json.loads((DEMO / f"model_{number}" / "config.json").read_text())["model_config"]
        hyperparameters = {name: value["current_value"] for name, value in entry["hparams"].items()}
        filters = [layer["filters"] for layer in layers if layer["layer_name"] == "Conv2D"]
        assert filters == [hyperparameters["n_filters"]] * 2 * hyperparameters["n_blocks"]
        assert {layer["layer_name"] for layer in layers} == {"Conv2D", "MaxPooling2D", "Flatten", "Dense"}
        assert "activation" not in layers[-1]  # logits


def test_all_models_fit_the_training_data_and_gaps_differ_widely():
    assert min(entry["metrics"]["train_acc"] for entry in CONFIGS.values()) >= 0.98
    gaps = np.array([gap(entry["metrics"]) for entry in CONFIGS.values()])
    assert gaps.min() < 0.04
    assert gaps.max() > 0.10
    assert len(set(gaps)) > 24


@pytest.mark.parametrize("number", ["3", "21"])
def test_recorded_accuracies_are_those_of_the_saved_files(number):
    model = read_model(DEMO / f"model_{number}")
    for part, name in (("train", "train_acc"), ("test", "test_acc")):
        images, labels = next(iter(read_dataset(DEMO / "dataset_1" / part).batch(10_000)))
        assert images.shape[1:] == (8, 8, 1)
        assert (images.numpy().min(), images.numpy().max()) == (0, 1)
        accuracy = np.mean(np.argmax(model(images), axis=1) == labels)
        assert accuracy == pytest.approx(CONFIGS[number]["metrics"][name], abs=1e-9)


def test_training_script_keeps_finished_models_and_rebuilds_the_data(tmp_path):
    finished = tmp_path / "input_data" / "digits_vgg" / "model_0"
    shutil.copytree(DEMO / "model_0", finished)
    script = [sys.executable, str(TASK_DATA / "train_digits.py"), "--out", str(tmp_path), "--limit", "1"]
    subprocess.run(script, check=True, capture_output=True)
    assert (finished / "weights.hdf5").read_bytes() == (DEMO / "model_0" / "weights.hdf5").read_bytes()
    for shard in (DEMO / "dataset_1").rglob("*.tfrecord"):
        rebuilt = tmp_path / "input_data" / "digits_vgg" / shard.relative_to(DEMO)
        assert rebuilt.read_bytes() == shard.read_bytes()
    rebuilt_configs = json.loads((tmp_path / "reference_data" / "digits_vgg" / "model_configs.json").read_text())
    assert rebuilt_configs == {"0": CONFIGS["0"]}
