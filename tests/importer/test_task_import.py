"""Tests of `pgdl task import`: a table, files and arrays become a task that other commands use."""

import json
import shutil
from contextlib import nullcontext
from dataclasses import replace
from types import SimpleNamespace
from unittest.mock import Mock

import numpy as np
import pytest
from keras_files import dense, hdf5, network, sequential, weights_of, write_keras, write_table
from PIL import Image
from throwaway import HYPERPARAMETERS

from harness.directory_lock import locked_directory
from harness.errors import UserError
from harness.format.shards import write_shards
from harness.importer import run
from harness.importer.model import StoredModel
from harness.importer.table import ImportedRow
from harness.task import workplace
from harness.task.contents import read_contents, read_known
from harness.task.layout import TaskDirectory
from harness.task.task import read_task

IMPORT = ("task", "import", "models.csv", "--data", "data.npz", "--test", "data.npz", "--output", "tasks")


@pytest.fixture
def imported(folder, pgdl):
    """Return a function that imports the models, and returns the task and the command's output."""

    def run():
        outcome = pgdl(*IMPORT)
        assert outcome.code == 0, outcome
        return read_task(TaskDirectory(folder / "tasks").runnable()[0]), outcome

    return run


@pytest.fixture
def computed(monkeypatch, made):
    """Use known accuracies in place of the process that computes them."""

    class Known(nullcontext):
        def __init__(self, *_):
            super().__init__(self)
            self.left = iter(made[1])

        def ask(self, question):
            return {"accuracies": next(self.left)}

    monkeypatch.setattr(run, "Process", Known)


def test_models_become_a_task(folder, pgdl, made, imported):
    """The table states some accuracies, and Keras computes the others."""
    rows, accuracies = made
    rows[1]["train_accuracy"], rows[2]["test_accuracy"] = f"{accuracies[1][0]:.2f}", str(accuracies[2][1])
    write_table(folder / "models.csv", rows)
    task, outcome = imported()
    assert outcome.lines[0].startswith("model_0 (m0.keras): train 0.")
    assert outcome.lines[-1] == "Wrote tasks/input_data/models. Next: pgdl task show tasks"
    validated = pgdl("task", "validate", "tasks")
    assert validated.lines[0] == "models: 8 models, 3 hyperparameters, 40 training samples, outputs are logits: valid"
    assert task.reference.grid.values == {name: tuple(values) for name, values in HYPERPARAMETERS.items()}
    for n, (train, test) in enumerate(accuracies):
        assert task.reference.train_accuracy[f"model_{n}"] == pytest.approx(train, abs=0.005 * (n == 1) + 1e-9)
        assert task.reference.test_accuracy[f"model_{n}"] == pytest.approx(test)
    assert [path.name for path in (folder / "tasks").iterdir() if path.name.startswith(".")] == []
    assert (folder / "tasks/reference_data/models/models.csv").read_text() == (folder / "models.csv").read_text()
    config = json.loads((folder / "tasks/input_data/models/model_0/config.json").read_text())
    assert config["class_name"] == "Sequential"
    known = read_known(folder / "tasks/reference_data/models")
    assert replace(read_contents(TaskDirectory(folder / "tasks").tasks[0]), without_initial_weights=()) == known


@pytest.mark.rest
@pytest.mark.parametrize("names", [("a", "a/b"), ("a/b", "c"), ("/a", ".."), ("a", "b\x00"), ("a", "\ud800")])
def test_layers_of_any_name(folder, computed, imported, names):
    """Layers may even have names that HDF5 cannot store, or names with a slash, which HDF5 takes for nested groups."""
    config = sequential(dense(4, "relu", name=names[0]), dense(3, name=names[1]))
    write_keras(folder / "m0.keras", config, hdf5(weights_of(1, 4, 0)))
    task, _ = imported()
    task.models[0].write_canonical(folder)
    found = [array.tolist() for array in np.load(folder / "weights.npz").values()]
    assert found == [array.tolist() for layer in weights_of(1, 4, 0) for array in layer]


def test_a_list_of_layers_may_state_the_version_of_keras_that_wrote_it(tmp_path):
    layers = [{"layer_name": "Dense", "units": 3, "activation": "hard_sigmoid"}, {"layer_name": "Dense", "units": 3}]
    content = {"model_config": layers, "input_shape": [4], "keras_version": "2.15.0"}
    (tmp_path / "config.json").write_text(json.dumps(content))
    (tmp_path / "weights.h5").write_bytes(b"\0")
    row = ImportedRow("models.csv: line 2", tmp_path / "config.json", tmp_path / "weights.h5")
    assert StoredModel(row).config == content


@pytest.mark.usefixtures("computed")
def test_weights_before_training(folder, made, imported):
    """Initial weights are read from every kind of file that can hold weights, and are optional for each model."""
    rows, _ = made
    initial = [weights_of(row["depth"], row["width"], 100 + n) for n, row in enumerate(rows)]
    np.savez("i0.npz", *[array for layer in initial[0] for array in layer])
    (folder / "i1.weights.h5").write_bytes(hdf5(initial[1]))
    write_keras(folder / "i2.keras", network(**{name: rows[2][name] for name in HYPERPARAMETERS}), hdf5(initial[2]))
    files = ["i0.npz", "i1.weights.h5", "i2.keras", *[""] * 5]
    table = [{**row, "initial_weights": file} for row, file in zip(rows, files, strict=True)]
    write_table(folder / "models.csv", table)
    models = imported()[0].models
    assert [model.has_initial_weights for model in models] == [True] * 3 + [False] * 5
    for model, expected in zip(models, initial[:3], strict=False):
        model.write_canonical(folder)
        with np.load(folder / "initial_weights.npz") as found:
            for one, array in zip(found.values(), (array for layer in expected for array in layer), strict=True):
                np.testing.assert_array_equal(one, array)


@pytest.mark.usefixtures("computed")
def test_a_low_rank_update_is_part_of_the_kernel_and_leaves_no_trace(folder, imported):
    """When Keras saves a .keras file, it adds the update to the kernel, but still writes the update's rank."""
    config = sequential(dense(4, "relu", lora_rank=2, lora_alpha=3.0), dense(3))
    write_keras(folder / "m0.keras", config, hdf5(weights_of(1, 4, 0)))
    assert "lora" not in json.dumps(imported()[0].models[0].architecture.canonical)


@pytest.mark.usefixtures("computed")
def test_a_task_that_is_there_stays(folder, pgdl):
    first = pgdl(*IMPORT, "--format", "json")
    assert first.code == 0
    assert json.loads(first.out) == {
        "task": "models", "directory": "tasks/input_data/models", "reference": "tasks/reference_data/models",
        "notes": [],
    }  # fmt: skip
    assert "model_0 (m0.keras): train" in first.err
    before = {path: path.stat().st_mtime_ns for path in (folder / "tasks").rglob("*")}
    err = pgdl(*IMPORT).refusal()
    assert "tasks/input_data/models: already exists; choose another name or output, or remove it" in err
    assert {path: path.stat().st_mtime_ns for path in (folder / "tasks").rglob("*")} == before
    assert pgdl(*IMPORT, "--name", "others").code == 0


@pytest.mark.usefixtures("computed")
def test_an_interrupted_import_leaves_nothing_and_the_next_removes_what_a_killed_one_left(folder, pgdl, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(run, "_write_reference", Mock(side_effect=KeyboardInterrupt))
        assert pgdl(*IMPORT[:-1], "new/tasks").code == 130
        assert not (folder / "new").exists()
        (folder / "tasks").mkdir()
        assert pgdl(*IMPORT).code == 130
        assert list((folder / "tasks").iterdir()) == []
    with monkeypatch.context() as killed:
        killed.setattr(workplace.shutil, "rmtree", lambda *_, **__: None)
        assert pgdl(*IMPORT[:4], "nothing.npz", *IMPORT[5:]).code == 2
    (left,) = (folder / "tasks").iterdir()
    (left / "files" / "left").touch()
    assert pgdl(*IMPORT).code == 0
    assert sorted(path.name for path in (folder / "tasks").iterdir()) == ["input_data", "reference_data"]


def test_two_imports_of_one_name(folder, pgdl):
    place = folder / "tasks" / ".models.importing"
    with locked_directory(place, place / "lock", "another"):
        assert "another pgdl task import is at work here; wait until it has ended" in pgdl(*IMPORT).refusal()


@pytest.mark.usefixtures("computed")
def test_accuracies_that_differ_are_named(folder, pgdl, made):
    rows, accuracies = made
    (train, _), (_, test) = accuracies[3], accuracies[5]
    rows[3]["train_accuracy"], rows[5]["test_accuracy"] = f"{1 - train:.3f}", f"{1 - test:.3f}"
    write_table(folder / "models.csv", rows)
    done = pgdl(*IMPORT)
    assert done.code == 2
    expected = [
        f"models.csv: line 5: train_accuracy of m3.keras: expected {1 - train:.3f} as stated, found {train:.6g} on 40",
        f"models.csv: line 7: test_accuracy of m5.keras: expected {1 - test:.3f} as stated, found {test:.6g} on 20",
    ]
    lines = done.err.removeprefix("pgdl: ").splitlines()
    assert [line.partition(" examples")[0] for line in lines] == expected
    assert not (folder / "tasks").exists()


@pytest.mark.usefixtures("computed")
def test_rounding_and_two_examples_are_no_difference(folder, imported, pgdl, made):
    without_test_data = IMPORT[:5] + IMPORT[7:]
    error = pgdl(*without_test_data).err
    assert "line 2: test_accuracy: expected a value, found none; state it, or give test data" in error
    rows, accuracies = made
    for row, (train, _) in zip(rows, accuracies, strict=True):
        row["train_accuracy"] = f"{min(train + 2 / 40 + 0.004, 1):.2f}"
    write_table(folder / "models.csv", rows)
    stated = [str(float(row["train_accuracy"])) for row in rows]
    assert [str(value) for value in imported()[0].reference.train_accuracy.values()] == stated


def test_missing_cells_and_models_that_can_be_left_out_are_said_at_once(folder, pgdl, made):
    """The notes are printed before the data are read: here, the data file does not exist."""
    rows, _ = made
    write_table(folder / "models.csv", [row | {"units": row["depth"] * row["width"]} for row in rows])
    outcome = pgdl(*IMPORT[:4], "nothing.npz", *IMPORT[5:])
    assert outcome.lines[0] == "Note: the grid has 32 cells and 8 models; 24 cells without a model:"
    assert outcome.lines[1] == "Note:   activation=relu, depth=1, units=4, width=6"
    assert outcome.lines[13] == "Note:   and 12 more"
    assert outcome.lines[14:] == [
        "Note: add the models of these cells; without them the task has no official score",
        "Note: or leave out the column units: the other hyperparameters tell the models apart",
    ]
    assert "nothing.npz: not data" in outcome.err
    shutil.copy("m0.keras", "m8.keras")
    write_table(folder / "models.csv", [*rows, {**rows[0], "width": 8, "file": "m8.keras"}])
    lines = pgdl(*IMPORT[:4], "nothing.npz", *IMPORT[5:]).lines
    assert lines[-1] == "Note: or leave out the 1 model with width=8"


@pytest.mark.usefixtures("computed")
def test_arrays_and_shards_are_the_same_data(folder, pgdl):
    with np.load("data.npz") as arrays:
        for part in ("train", "test"):
            x, y = arrays[f"x_{part}"], arrays[f"y_{part}"]
            np.save(f"x_{part}.npy", x)
            np.save(f"y_{part}.npy", np.eye(3)[y])
            write_shards(folder / part, x, y, 3)
            (folder / part / "._shard_0.tfrecord").write_bytes(b"left over")
    for name, *data in (
        ("npz", "data.npz", "data.npz"),
        ("npy", "x_train.npy", "x_test.npy"),
        ("shards", "train", "test"),
    ):
        outcome = pgdl(*IMPORT[:4], data[0], "--test", data[1], "--output", "tasks", "--name", name)
        assert outcome.code == 0, outcome
    shards = [sorted(files.train.iterdir()) for files in TaskDirectory(folder / "tasks").runnable()]
    assert len({tuple(shard.read_bytes() for shard in found) for found in shards}) == 1


def test_images_by_class(folder):
    from harness.importer.data import read_examples

    pixels = np.random.default_rng(0).integers(256, size=(4, 5, 6, 3), dtype=np.uint8)
    for n, image in enumerate(pixels):
        (folder / "images" / f"class_{n % 2}").mkdir(parents=True, exist_ok=True)
        Image.fromarray(image).save(folder / "images" / f"class_{n % 2}" / f"{n}.png")
    for name in ("._0.png", ".DS_Store", "Thumbs.db"):
        (folder / "images" / "class_0" / name).write_bytes(b"\0")
    examples = read_examples("images", "train", (5, 6, 3))
    np.testing.assert_array_equal(np.concatenate(list(examples.parts(3))), pixels[[0, 2, 1, 3]])
    np.testing.assert_array_equal(examples.labels, [0, 0, 1, 1])
    grey = np.concatenate(list(read_examples("images", "train", (5, 6, 1)).parts(3)))
    assert grey.shape == (4, 5, 6, 1)


def test_a_class_without_test_images_leaves_the_numbers_of_the_others(tmp_path):
    for folder in ("train/cat", "train/dog", "train/eel", "test/cat", "test/eel", "more/eel", "more/fox"):
        (tmp_path / folder).mkdir(parents=True)
        Image.new("L", (2, 2)).save(tmp_path / folder / "0.png")
    model = SimpleNamespace(architecture=SimpleNamespace(input_shape=(2, 2, 1)), row=SimpleNamespace(exported=None))

    def labels(test):
        order = run.ImportOrder(tmp_path, str(tmp_path / "train"), str(tmp_path / test), tmp_path, "images")
        parts = run._write_data(order, tmp_path / f"{test}_task", tmp_path / f"{test}_arrays", [model], 3)
        return [np.load(directory / "labels.npy").tolist() for directory in parts.values()]

    assert labels("test") == [[0, 1, 2], [0, 2]]
    with pytest.raises(UserError, match="more/fox: class: expected a class of the training images, found a new class"):
        labels("more")
