"""`pgdl task import`: a table, files and arrays become a task that the other commands use."""

import json
import shutil

import numpy as np
import pytest
from keras_files import (
    HYPERPARAMETERS,
    dense,
    hdf5,
    network,
    sequential,
    weights_of,
    write_keras,
    write_models,
    write_table,
)
from PIL import Image

from harness.directory_lock import locked_directory
from harness.format.reference import read_reference
from harness.format.shards import write_shards
from harness.importer import run
from harness.task.layout import TaskDirectory
from harness.task.task import read_task

IMPORT = ("task", "import", "models.csv", "--data", "data.npz", "--test", "data.npz", "--output", "tasks")


@pytest.fixture
def rows(folder):
    return write_models(folder)[0]


@pytest.fixture
def accuracies(folder):
    return write_models(folder)[1]


@pytest.fixture
def computed(monkeypatch, accuracies):
    """Replaces the process that computes accuracies by the networks' functions, written out."""

    class Known:
        def __enter__(self):
            self.left = iter(accuracies)
            return self

        def __exit__(self, *_):
            pass

        def ask(self, question):
            return {"accuracies": next(self.left)}

    monkeypatch.setattr(run, "Process", lambda *_: Known())


def test_models_become_a_task(folder, pgdl, rows, accuracies):
    """Some accuracies are stated, the others are computed, by Keras and not here."""
    rows[1]["train_accuracy"], rows[2]["test_accuracy"] = f"{accuracies[1][0]:.2f}", str(accuracies[2][1])
    write_table(folder / "models.csv", rows)
    outcome = pgdl(*IMPORT)
    assert outcome.code == 0, outcome
    assert outcome.lines[0].startswith("model_0 (m0.keras): train 0.")
    assert outcome.lines[-1] == "Wrote tasks/input_data/models. Next: pgdl task show tasks"
    validated = pgdl("task", "validate", "tasks")
    assert validated.lines[0] == "models: 8 models, 3 hyperparameters, 40 training samples, outputs are logits: valid"
    task = read_task(TaskDirectory(folder / "tasks").runnable()[0])
    assert task.reference.grid.values == {name: tuple(values) for name, values in HYPERPARAMETERS.items()}
    for n, (train, test) in enumerate(accuracies):
        assert task.reference.train_accuracy[f"model_{n}"] == pytest.approx(train, abs=0.005 * (n == 1) + 1e-9)
        assert task.reference.test_accuracy[f"model_{n}"] == pytest.approx(test)
    assert [path.name for path in (folder / "tasks").iterdir() if path.name.startswith(".")] == []


@pytest.mark.rest
@pytest.mark.parametrize("names", [("a", "a/b"), ("a/b", "c"), ("/a", ".."), ("a", "b\x00"), ("a", "\ud800")])
def test_layers_of_any_name(folder, pgdl, computed, names):
    """A slash makes a group within a group of an HDF5 file, and some names it cannot hold at all."""
    config = sequential(dense(4, "relu", name=names[0]), dense(3, name=names[1]))
    write_keras(folder / "m0.keras", config, hdf5(weights_of(1, 4, 0)))
    outcome = pgdl(*IMPORT)
    assert outcome.code == 0, outcome
    task = read_task(TaskDirectory(folder / "tasks").runnable()[0])
    task.models[0].write_canonical(folder)
    found = [array.tolist() for array in np.load(folder / "weights.npz").values()]
    assert found == [array.tolist() for layer in weights_of(1, 4, 0) for array in layer]


@pytest.mark.usefixtures("computed")
def test_weights_before_training(folder, pgdl, rows):
    """From any file that may hold the weights of a model; a model may lack them."""
    initial = [weights_of(row["depth"], row["width"], 100 + n) for n, row in enumerate(rows)]
    np.savez("i0.npz", *[array for layer in initial[0] for array in layer])
    (folder / "i1.weights.h5").write_bytes(hdf5(initial[1]))
    write_keras(folder / "i2.keras", network(**{name: rows[2][name] for name in HYPERPARAMETERS}), hdf5(initial[2]))
    files = ["i0.npz", "i1.weights.h5", "i2.keras"]
    write_table(
        folder / "models.csv", [{**row, "initial_weights": files[n] if n < 3 else ""} for n, row in enumerate(rows)]
    )
    outcome = pgdl(*IMPORT)
    assert outcome.code == 0, outcome
    models = read_task(TaskDirectory(folder / "tasks").runnable()[0]).models
    assert [model.has_initial_weights for model in models] == [True] * 3 + [False] * 5
    for model, expected in zip(models, initial[:3], strict=False):
        model.write_canonical(folder)
        with np.load(folder / "initial_weights.npz") as found:
            for one, array in zip(found.values(), (array for layer in expected for array in layer), strict=True):
                np.testing.assert_array_equal(one, array)


@pytest.mark.usefixtures("computed")
def test_a_low_rank_update_is_part_of_the_kernel_and_leaves_no_trace(folder, pgdl):
    """Keras adds it to the kernel when it saves a .keras file, and writes down its rank nevertheless."""
    config = sequential(dense(4, "relu", lora_rank=2, lora_alpha=3.0), dense(3))
    write_keras(folder / "m0.keras", config, hdf5(weights_of(1, 4, 0)))
    outcome = pgdl(*IMPORT)
    assert outcome.code == 0, outcome
    task = read_task(TaskDirectory(folder / "tasks").runnable()[0])
    assert "lora" not in json.dumps(task.models[0].architecture.canonical)


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
def test_an_interrupted_import_leaves_nothing(folder, pgdl, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(run, "_write_reference", interrupt)
    assert pgdl(*IMPORT[:-1], "new/tasks").code == 130
    assert not (folder / "new").exists()
    (folder / "tasks").mkdir()
    assert pgdl(*IMPORT).code == 130
    assert list((folder / "tasks").iterdir()) == []


@pytest.mark.usefixtures("computed")
def test_files_of_a_killed_import_are_removed_by_the_next(folder, pgdl, monkeypatch):
    with monkeypatch.context() as killed:
        killed.setattr(run.shutil, "rmtree", lambda *_, **__: None)
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
def test_accuracies_that_differ_are_named(folder, pgdl, rows, accuracies):
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
def test_rounding_and_two_examples_are_no_difference(folder, pgdl, rows, accuracies):
    for row, (train, _) in zip(rows, accuracies, strict=True):
        row["train_accuracy"] = f"{min(train + 2 / 40 + 0.004, 1):.2f}"
    write_table(folder / "models.csv", rows)
    assert pgdl(*IMPORT).code == 0
    reference = read_reference(folder / "tasks/reference_data/models/model_configs.json")
    assert [str(value) for value in reference.train_accuracy.values()] == [
        str(float(r["train_accuracy"])) for r in rows
    ]


@pytest.mark.usefixtures("computed")
def test_stated_accuracies_need_no_test_data(folder, pgdl, rows):
    without = IMPORT[:5] + IMPORT[7:]
    assert "line 2: test_accuracy: expected a value, found none; state it, or give test data" in pgdl(*without).err


def test_missing_cells_are_said_at_once(folder, pgdl, rows):
    """Before anything else is read: here there are no data."""
    write_table(folder / "models.csv", [row | {"units": row["depth"] * row["width"]} for row in rows])
    outcome = pgdl(*IMPORT[:4], "nothing.npz", *IMPORT[5:])
    assert outcome.lines[0] == "Note: the grid has 32 cells and 8 models; 24 cells without a model:"
    assert outcome.lines[1] == "Note:   activation=relu, depth=1, units=4, width=6"
    assert outcome.lines[13] == "Note:   and 12 more"
    assert outcome.lines[14:] == [
        "Note: add the models of these cells; without them the task has Kendall's coefficients only, no official score",
        "Note: or leave out the column units: the other hyperparameters tell the models apart",
    ]
    assert "nothing.npz: not data" in outcome.err


def test_models_that_can_be_left_out(pgdl, folder, rows):
    extra = {**rows[0], "width": 8}
    shutil.copy("m0.keras", "m8.keras")
    write_table(folder / "models.csv", [*rows, {**extra, "file": "m8.keras"}])
    lines = pgdl(*IMPORT[:4], "nothing.npz", *IMPORT[5:]).lines
    assert lines[-1] == "Note: or leave out the 1 model with width=8"


TABLES = {
    "no table": (None, "models.csv: cannot be read: found No such file or directory"),
    "nothing": ("\n", "models.csv: header: expected a column 'file' and distinct names, found an empty table"),
    "one column": ("model\n", "distinct names, found 1 other column\n"),
    "no rows": ("file,a\n", "rows: expected 1 to 10000 models, found 0"),
    "no file": ("model,a\nm0.keras,1\n", "header: expected a column 'file' and distinct names, found 2 other columns"),
    "an accuracy under another name": (
        "file,a,test_acc\nm0.keras,1,0.9\n",
        "header: expected hyperparameters, found an accuracy, 'test_acc'; call it train_accuracy or test_accuracy",
    ),
    "an index of pandas": (
        "Unnamed: 0,file,a\n0,m0.keras,1\n",
        "no index, found 'Unnamed: 0'; write the table without",
    ),
    "an index without a name": (",file,a\n0,m0.keras,1\n", "found , file, a; write the table without an index: index="),
    "a column twice": (
        "file,a,a\nm0.keras,1,2\n",
        "header: expected a column 'file' and distinct names, found 'a' twice",
    ),
    "no hyperparameters": (
        "file,weights\nm0.keras,\n",
        "header: expected a column for each hyperparameter, found none",
    ),
    "a short row": ("file,a,b\nm0.keras,1\n", "line 2: cells: expected 3, found 2"),
    "NaN": ("file,a\nm0.keras,nan\n", "line 2: a: expected text or a finite number, found nan"),
    "an infinite number": ("file,a\nm0.keras,-inf\n", "line 2: a: expected text or a finite number, found -inf"),
    "an empty cell": ("file,a\nm0.keras,\n", "line 2: a: expected a value, found none"),
    "per cent": (
        "file,a,test_accuracy\nm0.keras,1,98.7\n",
        "from 0 to 1, or nothing, found 98.7; divide per cent by 100, and write no %",
    ),
    "no number": (
        "file,a,test_accuracy\nm0.keras,1,high\n",
        "test_accuracy: expected a number from 0 to 1, or nothing",
    ),
    "per cent with a sign": (
        "file,a,test_accuracy\nm0.keras,1,90.3%\n",
        "from 0 to 1, or nothing, found 90.3%; divide per cent by 100, and write no %",
    ),
    "infinity": ("file,a,test_accuracy\nm0.keras,1,inf\n", "expected a number from 0 to 1, or nothing, found inf"),
    "semicolons": (
        "file;a;test_accuracy\nm0.keras;1;0,9\n",
        "separator: expected commas, found semicolons; separate columns by commas, and write decimals with a point",
    ),
    "semicolons and decimal commas": ("a,5;file\n1;m0.keras\n", "expected a column 'file'"),
    "tabs": ("a\tFile\n1\tm0.keras\n", "separator: expected commas, found tabs; separate columns by commas"),
    "File": (
        "File,a\nm0.keras,1\n",
        "header: expected a column 'file' and distinct names, found 2 other columns; rename the column 'File'",
    ),
    "Filename": ("Filename,weights,a\n,m0.keras,1\n", "found Filename, weights, a; rename the column 'Filename'"),
    "Weights": ("file,Weights,a\n,m0.keras,1\n", "header: expected 'weights', found 'Weights'; rename the column"),
    "JSON": ('[{"file": "m0.keras", "a": 1}]', "models.csv: not CSV: expected text, one row per model, found JSON"),
    "JSON in lines": ('{\n"file": "m0.keras"}', "models.csv: not CSV: expected text, one row per model, found JSON"),
    "one model twice": ("file,a\nm0.keras,1\nm0.keras,2\n", "line 3: one model twice: expected each model in one row"),
    "one cell twice": ("file,a\nm0.keras,1\nm1.keras,1.0\n", "cell (a=1): expected one model, found"),
    "not text": (b"file,a\n\xff,1\n", "not text: expected text in UTF-8, found other bytes from position 7"),
    "an open quote": ('file,a\n"m0.keras,1\n', "not CSV"),
    "a missing model": ("file,a\nm9.keras,1\n", "m9.keras: missing: expected a file, found nothing; paths begin at"),
    "a directory": ("file,a\n.,1\n", "cannot be read: expected a regular file, found a directory"),
    "no model": (
        "file,a\nmodels.csv,1\n",
        "unknown kind of file: expected a .keras or .pt2 file, a whole model as .h5, or JSON",
    ),
    "missing initial weights": ("file,initial_weights,a\nm0.keras,i.h5,1\n", "i.h5: missing: expected a file"),
    "initial weights of another model": (
        "file,initial_weights,a\nm0.keras,m3.keras,1\n",
        "m3.keras: layer 0 (Dense), 'layers/dense' in the file: kernel: expected shape (4, 4), found (4, 6)",
    ),
    "data as a model": ("file,a\ndata.npz,1\n", "not a .keras file: expected config.json and model.weights.h5"),
    "escape sequences": ("file,a\n\x1b[2J.keras,1\n", "line 2: cells: expected printable text, found '?[2J.keras'"),
}


@pytest.mark.parametrize("name", TABLES)
def test_broken_tables(name, folder, refused):
    content, message = TABLES[name]
    if content is None:
        (folder / "models.csv").unlink()
    else:
        (folder / "models.csv").write_bytes(content if isinstance(content, bytes) else content.encode())
    line = refused()
    assert message in line
    assert "\x1b" not in line


def test_names_of_tasks(refused):
    expected = "name of the task: expected at most 200 letters, digits, ., _ and -, found"
    for name in ("../x", 300 * "x"):
        assert f"{expected} '{name}'" in refused("--name", name)


@pytest.mark.parametrize("number", ["nan", "inf", "0", "-1", "1e-300"])
def test_divisors(number, refused):
    assert f"--divide-by: expected a number from 1e-30 to 1e+30, found {number}\n" in refused("--divide-by", number)


def npz(**arrays):
    return lambda folder: np.savez(folder / "data.npz", **arrays)


X, Y = np.zeros((6, 4)), np.arange(6) % 3
DATA = {
    "pickled": (npz(x=X, y=np.array([{}] * 6)), "data.npz: y: expected numbers, found pickled Python objects"),
    "no labels": (npz(x=X), "arrays: expected x_train and y_train, or x and y, found x"),
    "text": (npz(x=X, y=np.array(["a"] * 6)), "y: expected numbers, found <U1"),
    "other inputs": (npz(x=X[:, :3], y=Y), "expected at least 1 of shape (4,), as the models have, found shape (6, 3)"),
    "nothing": (npz(x=X[:0], y=Y[:0]), "inputs: expected at least 1 of shape (4,)"),
    "fewer labels": (npz(x=X, y=Y[:5]), "labels: expected shape (6,), found (5,)"),
    "a class too many": (npz(x=X, y=Y + 1), "expected 0..2, because the models have 3 outputs, found 3 of example 2"),
    "fractions": (npz(x=X, y=Y / 2), "labels: expected integers, one per example, or one-hot rows, found float64"),
    "soft labels": (npz(x=X, y=np.full((6, 3), 1 / 3)), "labels: expected integers, one per example, or one-hot rows"),
    "NaN": (npz(x=X * np.nan, y=Y), "inputs: expected finite numbers, found NaN or infinity in example 0"),
    "too large for float32": (npz(x=X + 1e300, y=Y), "inputs: expected finite numbers"),
    "not a zip": (lambda folder: (folder / "data.npz").write_bytes(b"PK??"), "data.npz: damaged: expected a whole zip"),
    "another zip": (lambda _: shutil.copy("m0.keras", "data.npz"), "member metadata.json: expected arrays written"),
}  # fmt: skip


@pytest.mark.parametrize("name", DATA)
def test_broken_data(name, folder, refused):
    change, message = DATA[name]
    change(folder)
    assert message in refused()


def test_unknown_data(folder, refused):
    assert "expected .npz, .npy, a directory of shards or of images by class, or one of mnist" in refused(data="cifar")
    np.save("x.npy", X)
    assert "x.npy: no labels: expected y.npy beside it, found nothing" in refused(data="x.npy")
    (folder / "empty").mkdir()
    assert "empty: no data: expected shards *.tfrecord, or a directory of images per class" in refused(data="empty")


def one_hot(labels):
    return np.eye(3)[labels]


@pytest.mark.usefixtures("computed")
def test_arrays_and_shards_are_the_same_data(folder, pgdl):
    with np.load("data.npz") as arrays:
        for part in ("train", "test"):
            x, y = arrays[f"x_{part}"], arrays[f"y_{part}"]
            np.save(f"x_{part}.npy", x)
            np.save(f"y_{part}.npy", one_hot(y))
            write_shards(folder / part, x, y, 3)
            (folder / part / "._shard_0.tfrecord").write_bytes(b"left over")
    for name, train, test in (("npz", "data.npz", "data.npz"), ("npy", "x_train.npy", "x_test.npy"),
                              ("shards", "train", "test")):  # fmt: skip
        outcome = pgdl(
            "task", "import", "models.csv", "--data", train, "--test", test, "--output", "tasks", "--name", name
        )
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


def test_images_that_are_none(folder, refused):
    (folder / "images" / "a").mkdir(parents=True)
    (folder / "images" / "a" / "1.png").write_bytes(b"\x89PNG")
    assert "images: expected inputs of shape (4,), as the models have, found images" in refused(data="images")


def test_the_table_is_kept_beside_the_reference_data(folder, pgdl, computed):
    assert pgdl(*IMPORT).code == 0
    reference = folder / "tasks/reference_data/models"
    assert (reference / "models.csv").read_text() == (folder / "models.csv").read_text()
    assert (
        json.loads((folder / "tasks/input_data/models/model_0/config.json").read_text())["class_name"] == "Sequential"
    )
