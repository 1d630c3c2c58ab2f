"""Tests of the shipped demo tasks: they agree with their recipes and their records."""

import json
import subprocess
from pathlib import Path

import h5py
import numpy as np
import pytest
from e2e.real_runs import PGDL

from harness.corpus.recipe import Recipe, read_recipe
from harness.format.reference import read_reference

TASK_DATA = Path(__file__).parents[2] / "task_data"
TASKS = sorted(path.name for path in (TASK_DATA / "input_data").iterdir())


@pytest.fixture(params=TASKS)
def recipe(request) -> Recipe:
    return read_recipe(TASK_DATA / "recipes" / f"{request.param}.toml")


def training(recipe: Recipe) -> list[dict]:
    """Return the training record of each model in the shipped task of a recipe."""
    return json.loads((TASK_DATA / "reference_data" / recipe.name / "training.json").read_text())


def test_demo_tasks_are_small_and_valid():
    assert sum(path.stat().st_size for path in TASK_DATA.rglob("*") if path.is_file()) <= 18_000_000
    done = subprocess.run([*PGDL, "task", "validate", str(TASK_DATA)], capture_output=True, text=True)
    assert (done.returncode, done.stdout.count(": valid")) == (0, len(TASKS)), done.stdout


def require_a_model_in_every_cell(recipe: Recipe, directory: Path) -> None:
    """Assert that the recipe has made the reference data: each cell has a training record with equal accuracies."""
    assert (directory / "recipe.toml").read_text() == recipe.text
    reference = read_reference(directory / "model_configs.json")
    records = json.loads((directory / "training.json").read_text())
    assert [record["cell"] for record in records] == [cell.number for cell in recipe.cells]
    for record in records:
        model = f"model_{record['cell']}"
        found = {"train_acc": reference.train_accuracy[model], "test_acc": reference.test_accuracy[model]}
        assert found == {name: record["metrics"][name] for name in found}


def test_the_shipped_recipe_has_made_one_model_in_every_cell_with_the_recorded_accuracies(recipe):
    require_a_model_in_every_cell(recipe, TASK_DATA / "reference_data" / recipe.name)


def test_models_fit_and_their_gaps_are_spread_more_widely_than_they_are_uncertain(recipe):
    records = training(recipe)
    gaps = [record["metrics"]["train_acc"] - record["metrics"]["test_acc"] for record in records]
    assert np.std(gaps) > 2 * np.sqrt(0.08 * 0.92 / 1477), "twice the standard error of an accuracy of 0.92"
    assert len(set(gaps)) > 20
    assert np.mean([record["reached"] for record in records]) >= 0.9
    assert min(record["metrics"]["train_acc"] for record in records) > 0.9


@pytest.mark.rest
def test_a_cell_that_is_built_again_starts_the_same_and_ends_alike(tmp_path):
    """Data and initial weights are equal to the last bit. Trained weights differ: rounding depends on the processor."""
    recipe = read_recipe(TASK_DATA / "recipes" / "digits_vgg.toml")  # the quickest recipe
    file = TASK_DATA / "recipes" / f"{recipe.name}.toml"
    command = [*PGDL, "task", "build", str(file), "--output", str(tmp_path), "--limit", "1", "--workers", "1"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    built, shipped = tmp_path / "building" / recipe.name, TASK_DATA / "input_data" / recipe.name
    shards = list((shipped / "dataset_1").rglob("*.tfrecord"))
    assert shards
    for shard in shards:
        assert (built / "data" / shard.relative_to(shipped / "dataset_1")).read_bytes() == shard.read_bytes()
    assert (built / "cell_0" / "config.json").read_text() == (shipped / "model_0" / "config.json").read_text()
    assert weights(built / "cell_0" / "weights_init.hdf5") == weights(shipped / "model_0" / "weights_init.hdf5")
    record = json.loads((built / "records" / "0.json").read_text())
    assert record["reached"]
    assert record["metrics"]["test_acc"] == pytest.approx(training(recipe)[0]["metrics"]["test_acc"], abs=0.1)


def weights(path: Path) -> dict[str, bytes]:
    """Return every array of a weight file."""
    found: dict[str, bytes] = {}
    with h5py.File(path) as file:
        file.visititems(lambda name, item: found.update({name: item[()].tobytes()} if hasattr(item, "shape") else {}))
    return found
