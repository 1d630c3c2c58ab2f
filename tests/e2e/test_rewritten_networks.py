"""Tests of one function written in several ways, and of one measure in all runtimes: values are equal."""

import json
import shutil
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from real_runs import records
from throwaway import INPUT_SHAPE, edit_json, make_task, write_json, write_shards, write_weights

from harness.format.shards import read_samples
from harness.shipped import shipped_directory
from harness.worker.runtimes import RUNTIMES

pytestmark = [pytest.mark.rest, pytest.mark.usefixtures("sandbox")]

Pgdl = Any

#: Two layers in Keras' own JSON: names, an activation of its own, layers that only training uses, and types.
IN_OTHER_WORDS = {
    "class_name": "Sequential",
    "config": {
        "name": "trained_with_adam",
        "layers": [
            {"class_name": "InputLayer", "config": {"name": "input", "batch_shape": [None, *INPUT_SHAPE]}},
            {"class_name": "GaussianNoise", "config": {"name": "noise", "stddev": 0.3}},
            {"class_name": "Dense", "config": {"name": "decay_0.1", "units": 4, "activation": "linear"}},
            {"class_name": "ReLU", "config": {"name": "relu"}},
            {"class_name": "Dropout", "config": {"name": "dropout", "rate": 0.5}},
            {"class_name": "Dense", "config": {"name": "logits", "units": 3}},
            {"class_name": "Activation", "config": {"name": "end", "activation": "linear", "dtype": "float32"}},
        ],
    },
}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two tasks of four models, the same function written in several ways; the second has its data in reverse order."""
    directory = tmp_path_factory.mktemp("rewritten")
    task = make_task(directory, n_models=1, reference=False)
    for number in (1, 2, 3):
        shutil.copytree(task / "model_0", task / f"model_{number}")
    edit_json(task / "model_1/config.json", lambda content: content["model_config"][-1].update(activation="softmax"))
    edit_json(task / "model_2/config.json", lambda content: content["model_config"].append({"layer_name": "Softmax"}))
    write_json(task / "model_3/config.json", IN_OTHER_WORDS)
    for file in ("weights.hdf5", "weights_init.hdf5"):
        write_weights(task / "model_3" / file, arrays_in(task / "model_0" / file), names=["decay_0.1", "logits"])
    other = directory / "reversed"
    shutil.copytree(task, other)
    shards = sorted((task / "dataset_1" / "train").iterdir())
    samples = [sample for shard in shards for sample in read_samples(shard)][::-1]
    inputs, labels = (np.stack(part) for part in zip(*samples, strict=True))
    shutil.rmtree(other / "dataset_1" / "train")
    write_shards(other / "dataset_1" / "train", inputs, labels.astype(np.int32), 2)
    return directory


def arrays_in(path: Path) -> list[list[np.ndarray]]:
    with h5py.File(path) as file:
        groups = [file[name] for name in file.attrs["layer_names"]]
        return [[group[name][()] for name in group.attrs["weight_names"]] for group in groups]


def test_templates_and_library_measure_the_same(place: Path, pgdl: Pgdl, tmp_path: Path) -> None:
    names = [name for name, runtime in RUNTIMES.items() if not runtime.missing()]
    for name in names:
        assert pgdl("new", tmp_path / name, "--runtime", name).returncode == 0
    templates = (tmp_path / name for name in names)
    done = pgdl("run", *templates, "neg_output_margin", "--tasks", place, "--results", tmp_path / "r.db")
    assert done.returncode == 0, done.stdout
    found = records(tmp_path / "r.db")
    for submissions in (names, ["neg_output_margin"]):
        values = {(row["submission"], row["task"], row["model"]): row["value"] for row in found
                  if row["submission"] in submissions}  # fmt: skip
        assert len(values) == 8 * len(submissions)
        assert values == pytest.approx(dict.fromkeys(values, next(iter(values.values()))), rel=1e-4)


def test_validate_and_check_say_what_models_give(place: Path, tmp_path: Path, pgdl: Pgdl) -> None:
    note = "2 models (model_1, model_2) end in a softmax: model(x) gives probabilities there, model.logits(x) logits"
    validated = pgdl("task", "validate", place).stdout.splitlines()
    assert [line for line in validated if "outputs are probabilities of 2 models, logits of 2: valid" in line]
    assert f"tiny: note: {note}" in validated
    assert pgdl("new", tmp_path / "mine").returncode == 0
    checked = pgdl("check", tmp_path / "mine", "--tasks", place, "--task", "tiny", "--models", "1")
    assert "tiny: outputs are probabilities of 2 models, logits of 2" in checked.stdout
    assert f"tiny: {note}" in checked.stderr
    assert "mine passes" in checked.stdout


def test_the_worked_submissions_agree_and_stand_side_by_side_with_one_score(
    competition: Path, tmp_path: Path, pgdl: Pgdl
) -> None:
    examples = {"tensorflow": "input_gradient", "jax": "input_gradient_jax", "torch": "input_gradient_torch"}
    examples = {name: example for name, example in examples.items() if not RUNTIMES[name].missing()}
    shared = ("--tasks", competition, "--results", tmp_path / "results.db")
    done = pgdl("run", *(shipped_directory("submissions") / name for name in examples.values()), *shared)
    assert done.returncode == 0, done.stdout + done.stderr
    rows = records(tmp_path / "results.db")
    first, *others = ({row["model"]: row["value"] for row in rows if row["runtime"] == name} for name in examples)
    assert len(first) == 8
    assert others == [pytest.approx(first, rel=1e-4)] * (len(examples) - 1)
    for row in rows:
        packages = ("python", "numpy", "scipy", *RUNTIMES[row["runtime"]].distributions)
        assert [package for package in packages if f"{package} " not in row["versions"]] == []
        assert json.loads(row["environment"])["device"] == "cpu"
    board = {row["submission"]: row for row in json.loads(pgdl("board", *shared, "--format", "json").stdout)["rows"]}
    scores = [board[name]["score"] for name in examples.values()]
    assert scores == pytest.approx([scores[0]] * len(scores), rel=1e-9), "the same order of the models"
    assert scores[0] > 0
