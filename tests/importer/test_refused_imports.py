"""Tests of what `pgdl task import` refuses, in one line: tables, names, numbers and data."""

import os
import shutil

import numpy as np
import pytest

TABLES = {
    "no table": (None, "models.csv: cannot be read: found No such file or directory"),
    "nothing": ("\n", "models.csv: header: expected a column 'file' and distinct names, found an empty table"),
    "one column": ("model\n", "distinct names, found 1 other column\n"),
    "no rows": ("file,a\n", "rows: expected 1 to 10000 models, found 0"),
    "no file": ("model,a\nm0.keras,1\n", "header: expected a column 'file' and distinct names, found 2 other columns"),
    "an index of pandas": (
        "Unnamed: 0,file,a\n0,m0.keras,1\n", "no index, found 'Unnamed: 0'; write the table without",
    ),
    "an index without a name": (",file,a\n0,m0.keras,1\n", "found , file, a; write the table without an index: index="),
    "a column twice": (
        "file,a,a\nm0.keras,1,2\n", "header: expected a column 'file' and distinct names, found 'a' twice",
    ),
    "no hyperparameters": (
        "file,weights\nm0.keras,\n", "header: expected a column for each hyperparameter, found none",
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
        "file,a,test_accuracy\nm0.keras,1,high\n", "test_accuracy: expected a number from 0 to 1, or nothing",
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
        "file,a\nmodels.csv,1\n", "unknown kind of file: expected a .keras or .pt2 file, a whole model as .h5, or JSON",
    ),
    "a long name": (f"file,a\n{300 * 'x'},1\n", "cannot be read: found File name too long"),
    "missing initial weights": ("file,initial_weights,a\nm0.keras,i.h5,1\n", "i.h5: missing: expected a file"),
    "initial weights of another model": (
        "file,initial_weights,a\nm0.keras,m3.keras,1\n",
        "m3.keras: layer 0 (Dense), 'layers/dense' in the file: kernel: expected shape (4, 4), found (4, 6)",
    ),
    "data as a model": ("file,a\ndata.npz,1\n", "not a .keras file: expected config.json and model.weights.h5"),
    "escape sequences": ("file,a\n\x1b[2J.keras,1\n", "line 2: cells: expected printable text, found '?[2J.keras'"),
}  # fmt: skip


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
    expected = "name of the task: expected at most 200 letters, digits, ., _ and -, the first no . or -, found"
    for name in ("../x", 300 * "x", "-x", ".x"):
        assert f"{expected} '{name}'" in refused(f"--name={name}")


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
    "fractions": (npz(x=X, y=Y / 2), "or one-hot rows, found 0.5 of example 1; regression is not supported"),
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


def test_labels_that_do_not_fit_into_memory(folder, refused):
    """A file of a few bytes can declare any number of labels, because the system stores no zeros."""
    np.save("x.npy", X)
    with (folder / "y.npy").open("wb") as file:
        np.lib.format.write_array_header_1_0(file, {"descr": "|i1", "fortran_order": False, "shape": (2 * 10**11,)})
        os.truncate(file.fileno(), file.tell() + 2 * 10**11)
    line = refused(data="x.npy")
    assert "y.npy: labels: expected at most " in line
    assert "bytes, the free memory, found 1600000000000 bytes" in line


def test_images_that_are_none(folder, refused):
    (folder / "images" / "a").mkdir(parents=True)
    (folder / "images" / "a" / "1.png").write_bytes(b"\x89PNG")
    assert "images: expected inputs of shape (4,), as the models have, found images" in refused(data="images")
