"""Tests of what `pgdl task import` refuses, in one line: tables, columns, names, numbers and data."""

import os
import shutil

import numpy as np
import pytest

from harness.errors import UserError
from harness.importer.completeness import notes_on_grid
from harness.importer.stated import rounding_of
from harness.importer.table import read_table

ONE = "m0.keras,1"
HEADER = "header: expected a column 'file' and distinct names, found"
NO_RATE = "expected a number from 0 to 1, or nothing"

#: Each row has a table and the message of its refusal.
TABLES = [
    ("\n", f"models.csv: {HEADER} an empty table"),
    ("model\n", "distinct names, found 1 other column\n"),
    ("file,a\n", "rows: expected 1 to 10000 models, found 0"),
    (f"model,a\n{ONE}\n", f"{HEADER} 2 other columns"),
    (f"Unnamed: 0,file,a\n0,{ONE}\n", "no index, found 'Unnamed: 0'; write the table without"),
    (f",file,a\n0,{ONE}\n", "found , file, a; write the table without an index: index="),
    (f"file,a,a\n{ONE},2\n", f"{HEADER} 'a' twice"),
    ("file,weights\nm0.keras,\n", "header: expected a column for each hyperparameter, found none"),
    (f"file,a,b\n{ONE}\n", "line 2: cells: expected 3, found 2"),
    ("file,a\nm0.keras,nan\n", "line 2: a: expected text or a finite number, found nan"),
    ("file,a\nm0.keras,-inf\n", "line 2: a: expected text or a finite number, found -inf"),
    ("file,a\nm0.keras,\n", "line 2: a: expected a value, found an empty cell"),
    (f"file,a,test_accuracy\n{ONE},98.7\n", f"{NO_RATE}, found 98.7; divide per cent by 100, and write no %"),
    (f"file,a,test_accuracy\n{ONE},90.3%\n", f"{NO_RATE}, found 90.3%; divide per cent by 100, and write no %"),
    (f"file,a,test_accuracy\n{ONE},high\n", f"test_accuracy: {NO_RATE}"),
    (f"file,a,test_accuracy\n{ONE},inf\n", f"{NO_RATE}, found inf"),
    (
        "file;a;test_accuracy\nm0.keras;1;0,9\n",
        "separator: expected commas, found semicolons; separate columns by commas, and write decimals with a point",
    ),
    ("a,5;file\n1;m0.keras\n", "expected a column 'file'"),  # semicolons, and a comma for the decimal point
    ("a\tFile\n1\tm0.keras\n", "separator: expected commas, found tabs; separate columns by commas"),
    (f"File,a\n{ONE}\n", f"{HEADER} 2 other columns; rename the column 'File'"),
    (f"Filename,weights,a\n,{ONE}\n", "found Filename, weights, a; rename the column 'Filename'"),
    (f"file,Weights,a\n,{ONE}\n", "header: expected 'weights', found 'Weights'; rename the column"),
    ('[{"file": "m0.keras", "a": 1}]', "models.csv: not CSV: expected text, one row per model, found JSON"),
    ('{\n"file": "m0.keras"}', "models.csv: not CSV: expected text, one row per model, found JSON"),
    (f"file,a\n{ONE}\nm0.keras,2\n", "line 3: one model twice: expected each model in one row"),
    (f"file,a\n{ONE}\nm1.keras,1.0\n", "cell (a=1): expected one model, found"),
    (b"file,a\n\xff,1\n", "not text: expected text in UTF-8, found other bytes from position 7"),
    ('file,a\n"m0.keras,1\n', "not CSV"),  # an open quote
    ("file,a\nm9.keras,1\n", "m9.keras: missing: expected a file, found nothing; paths begin at"),
    ("file,a\n.,1\n", "cannot be read: expected a regular file, found a directory"),
    ("file,a\nmodels.csv,1\n", "kind of file: expected a .keras or .pt2 file, a whole model as .h5, or JSON"),
    (f"file,a\n{300 * 'x'},1\n", "cannot be read: found File name too long"),
    ("file,initial_weights,a\nm0.keras,i.h5,1\n", "i.h5: missing: expected a file"),
    ("file,initial_weights,a\nm0.keras,m3.keras,1\n", "(Dense), 'layers/dense' in the file: kernel: expected shape"),
    ("file,a\ndata.npz,1\n", "not a .keras file: expected config.json and model.weights.h5"),
    ("file,a\n\x1b[2J.keras,1\n", "line 2: cells: expected printable text, found '?[2J.keras'"),
]


@pytest.mark.parametrize(("content", "message"), TABLES)
def test_broken_tables(content, message, folder, refused):
    (folder / "models.csv").write_bytes(content if isinstance(content, bytes) else content.encode())
    line = refused()
    assert message in line
    assert "\x1b" not in line


def test_no_table(folder, refused):
    (folder / "models.csv").unlink()
    assert "models.csv: cannot be read: found No such file or directory" in refused()


def test_names_of_tasks(refused):
    expected = "name of the task: expected at most 200 letters, digits, ., _ and -, the first no . or -, found"
    for name in ("../x", 300 * "x", "-x", ".x"):
        assert f"{expected} '{name}'" in refused(f"--name={name}")


def test_divisors(refused):
    for number in ("nan", "inf", "0", "-1", "1e-300"):
        line = refused("--divide-by", number)
        assert f"--divide-by: expected a number from 1e-30 to 1e+30, found {number}\n" in line


def npz(**arrays):
    return lambda folder: np.savez(folder / "data.npz", **arrays)


X, Y = np.zeros((6, 4)), np.arange(6) % 3
ONE_HOT = "labels: expected integers, one per example, or one-hot rows"

DATA = [
    (npz(x=X, y=np.array([{}] * 6)), "data.npz: y: expected numbers, found pickled Python objects"),
    (npz(x=X), "arrays: expected x_train and y_train, or x and y, found x"),
    (npz(x=X, y=np.array(["a"] * 6)), "y: expected numbers, found <U1"),
    (npz(x=X[:, :3], y=Y), "expected at least 1 of shape (4,), as the models have, found shape (6, 3)"),
    (npz(x=X[:0], y=Y[:0]), "inputs: expected at least 1 of shape (4,)"),
    (npz(x=X, y=Y[:5]), "labels: expected shape (6,), found (5,)"),
    (npz(x=X, y=Y + 1), "expected 0..2, because the models have 3 outputs, found 3 of example 2"),
    (npz(x=X, y=Y / 2), f"{ONE_HOT}, found 0.5 of example 1; regression is not supported"),
    (npz(x=X, y=np.full((6, 3), 1 / 3)), ONE_HOT),
    (npz(x=X * np.nan, y=Y), "inputs: expected finite numbers, found NaN or infinity in example 0"),
    (npz(x=X + 1e300, y=Y), "inputs: expected finite numbers"),
    (lambda folder: (folder / "data.npz").write_bytes(b"PK??"), "data.npz: damaged: expected a whole zip"),
    (lambda _: shutil.copy("m0.keras", "data.npz"), "member metadata.json: expected arrays written"),
]


@pytest.mark.parametrize(("change", "message"), DATA)
def test_broken_data(change, message, folder, refused):
    change(folder)
    assert message in refused()


def test_unknown_data(folder, refused):
    assert "expected .npz, .npy, a directory of shards or of images by class, or one of mnist" in refused(data="cifar")
    np.save("x.npy", X)
    assert "x.npy: no labels: expected y.npy beside it, found nothing" in refused(data="x.npy")
    # A file of a few bytes can declare any number of labels, because the system stores no zeros.
    with (folder / "y.npy").open("wb") as file:
        np.lib.format.write_array_header_1_0(file, {"descr": "|i1", "fortran_order": False, "shape": (2 * 10**11,)})
        os.truncate(file.fileno(), file.tell() + 2 * 10**11)
    line = refused(data="x.npy")
    assert "y.npy: labels: expected at most " in line
    assert "bytes, the free memory, found 1600000000000 bytes" in line
    (folder / "empty").mkdir()
    assert "empty: no data: expected shards *.tfrecord, or a directory of images per class" in refused(data="empty")
    for name in ("shard_0.tfrecord", "shard_0.tfrecord.bak"):
        (folder / "empty" / name).touch()
    assert "empty: shards: expected names that end with .tfrecord, .tfrecords or " in refused(data="empty")
    (folder / "images" / "a").mkdir(parents=True)
    (folder / "images" / "a" / "1.png").write_bytes(b"\x89PNG")
    assert "images: expected inputs of shape (4,), as the models have, found images" in refused(data="images")


@pytest.fixture
def table(tmp_path):
    """Return a function that reads a table of this text."""

    def read(text):
        (tmp_path / "models.csv").write_text(text)
        return read_table(tmp_path / "models.csv")

    return read


@pytest.fixture
def column(table):
    """Return a function that reads a table with these accuracies, and returns the read accuracies and notes."""

    def read(*cells):
        lines = [f"m{n}.keras,{n},{cell}\n" for n, cell in enumerate(cells)]
        found = table("file,width,train_accuracy\n" + "".join(lines))
        return [row.train for row in found.rows], found.notes

    return read


ACCURACIES = (
    "Test Acc", "val_accuracy", "accuracy", "acc_train", "train_acuracy", "trainaccuracy", "valAcc", "top-1 accuracy",
    "val_sparse_categorical_accuracy", "final_train_acc", "test_acc",
)  # fmt: skip
RESULTS = (
    "gap", "GAP", "generalization_gap", "generalisation gap", "gen_gap", "train_test_gap", "loss", "train_loss",
    "val_loss", "Loss", "best_val_loss", "test error", "trainErr", "sparse_categorical_crossentropy", "val_auc",
)  # fmt: skip


@pytest.mark.parametrize("name", ACCURACIES + RESULTS)
def test_results_and_other_names_of_accuracies_are_no_hyperparameters(name, table):
    """If the gap were among the hyperparameters on which a score is conditioned, nothing would be left to predict."""
    found = f"an accuracy, '{name}'; call it train_accuracy or test_accuracy"
    if name in RESULTS:
        found = f"a result of training, '{name}'; leave it out, or rename it"
    for cell in ("0.31", "31%"):
        with pytest.raises(UserError, match=f"expected hyperparameters, found {found}"):
            table(f"file,a,{name}\nm0.keras,1,{cell}\n")


@pytest.mark.parametrize(
    "name",
    ["width", "weight_decay", "train_steps", "accumulation", "label_accuracy_target", "indexed", "target_loss",
     "loss_scale", "gap_filling", "train", "test_size", "label_error"],
)  # fmt: skip
def test_names_of_hyperparameters_are_no_results_nor_is_the_name_of_a_loss_function(name, table):
    assert table(f"file,{name}\nm0.keras,1\n").grid.names == (name,)
    assert table("file,loss\nm0.keras,mse\nm1.keras,hinge\n").grid.values == {"loss": ("mse", "hinge")}


def test_too_many_columns_are_refused_by_the_header_alone(table, monkeypatch):
    monkeypatch.setattr("harness.importer.table.require_hyperparameter", None)
    columns = ",".join(f"a{number}" for number in range(101))
    with pytest.raises(UserError, match=r"header: expected at most 100 hyperparameters, found 101$"):
        table(f"file,train_accuracy,{columns}\n")


@pytest.mark.parametrize(("different", "is_noted"), [(8, True), (6, True), (4, False)])
def test_a_column_that_tells_nearly_all_models_apart_is_mentioned(different, is_noted, table):
    rows = [f"m{n}.keras,{n // 4},{n // 2 % 2},{n % 2},{min(n, different - 1) / 7}\n" for n in range(8)]
    note = f"seconds has {different} values in 8 models, as results or row numbers do: is it a hyperparameter?"
    lines = notes_on_grid(table("file,a,b,c,seconds\n" + "".join(rows)).grid)
    assert [line for line in lines if "seconds has" in line] == [note] * is_noted


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["0.98", "0.9731", ""], 0.00005),
        (["1.0", "0.9"], 0.05),
        (["1.00", "1.00"], 0.005),
        (["9.7e-1", "1"], 0.005),
        (["1.0", "0.9658333333333333"], 5e-17),
        (["0.5", "1e-400"], 5e-18),
        (["high", "0.25"], 0.005),
        (["1", "0"], 0),
        (["1.0", "0.0"], 0),
        ([], 0),
    ],
)
def test_the_longest_cell_gives_the_rounding(cells, expected):
    assert rounding_of(cells) == pytest.approx(expected)


@pytest.mark.parametrize("one", ["1", "1.0"])
def test_one_alone_is_exact_to_one_example(column, one):
    """In a table of one row, 1 agrees with a computed accuracy of 0.999 on 1000 examples, but not with 0.998."""
    (stated,), notes = column(one)
    assert stated.agrees(0.999, 1000)
    assert not any(stated.agrees(computed, 1000) for computed in (0.998, 0.9658, 0.7025))
    assert notes == []
    # Pandas writes 1.0 where other rows have 16 digits.
    (stated, _), _ = column("1.0", "0.9316666666666666")
    assert [stated.agrees(computed, 1000) for computed in (0.998, 0.9658)] == [True, False]


def test_no_number_is_no_accuracy(column):
    for empty in ("", "NaN", "nan", "NA"):
        assert column(empty, "0.98")[0][0] is None, empty


def test_a_column_of_few_digits_is_mentioned(column):
    assert column("0.98", "0.9")[1] == []
    assert column("1.0", "0.9")[1] == [
        "train_accuracy is stated to within 0.05 only: give more digits, or leave the column out to have it computed"
    ]
