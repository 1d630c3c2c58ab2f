"""Lists every way in which the harness reads a stranger's file ("door"), as the table in docs/security.md does.

The function of a door writes valid files. It returns the path of the file that a test replaces, and the command that
reads the file.
"""

import gzip
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
from throwaway import make_task

from harness.codabench.downloads import read_table
from harness.corpus.sources import read_pair
from harness.format.images import read_images
from harness.site import write_site
from tests.codabench.organised import organise, pack
from tests.site.site_examples import make
from tests.submission.submission_files import MEASURE, write_folder, write_zip

#: Reads the file: arguments of `pgdl`, or a function if the command would need TensorFlow.
Reader = tuple[object, ...] | Callable[[], object]

#: Writes into a directory; returns the path of the file and its reader.
Door = Callable[[Path], tuple[Path, Reader]]


def _check(folder: Path, name: str) -> tuple[Path, Reader]:
    make_task(folder, n_models=1)
    return folder / name, ("check", folder / name, "--tasks", folder / "tiny")


def submission_file(folder: Path) -> tuple[Path, Reader]:
    write_folder(folder, {"mine.py": MEASURE})
    return _check(folder, "mine.py")


def submission_zip(folder: Path) -> tuple[Path, Reader]:
    write_zip(folder / "mine.zip", [("complexity.py", MEASURE)])
    return _check(folder, "mine.zip")


def file_in_submission(folder: Path) -> tuple[Path, Reader]:
    write_folder(folder / "mine", {"complexity.py": MEASURE})
    return folder / "mine/complexity.py", _check(folder, "mine")[1]


def _of_site(name: str) -> Door:
    def door(folder: Path) -> tuple[Path, Reader]:
        data, _ = make(folder / "reference")
        write_site(data, folder / "site")
        return folder / "site" / name, ("verify", folder / "site")

    return door


def _of_task(name: str) -> Door:
    def door(folder: Path) -> tuple[Path, Reader]:
        task = make_task(folder, n_models=1)
        return task / name, ("task", "validate", task)

    return door


def predictions(folder: Path) -> tuple[Path, Reader]:
    task = make_task(folder)
    (folder / "predicted").mkdir()
    (folder / "predicted/tiny.predict").write_text("{}")
    return folder / "predicted/tiny.predict", ("score", "--predictions", folder / "predicted", "--tasks", task)


def _import(folder: Path, cells: str, *options: object) -> Reader:
    """Return the arguments of a command that imports a model whose shapes are in the cache."""
    make_task(folder, n_models=1)
    (folder / "models.csv").write_text(f"file,weights,train_accuracy,test_accuracy,a\n{cells},1,0.9,1\n")
    np.savez(folder / "right.npz", x=np.zeros((6, 4), np.float32), y=np.arange(6) % 3)
    data = options or ("--data", folder / "right.npz")
    return ("task", "import", folder / "models.csv", *data, "--name", "new", "--output", folder / "out")


PLAIN = "tiny/model_0/config.json,tiny/model_0/weights.hdf5"


def table(folder: Path) -> tuple[Path, Reader]:
    return folder / "models.csv", _import(folder, PLAIN)


def _of_import(cells: str, name: str) -> Door:
    def door(folder: Path) -> tuple[Path, Reader]:
        reader = _import(folder, cells)
        shutil.copy(folder / "tiny/model_0/weights.hdf5", folder / "weights.h5")
        return folder / name, reader

    return door


def _data(name: str, write: Callable[[Path], object]) -> Door:
    def door(folder: Path) -> tuple[Path, Reader]:
        write(folder)
        return folder / name, _import(folder, PLAIN, "--data", folder / "x.npy" if name == "y.npy" else folder / name)

    return door


def _arrays(folder: Path) -> None:
    np.save(folder / "x.npy", np.zeros((6, 4), np.float32))
    np.save(folder / "y.npy", np.arange(6) % 3)


def shard_of_import(folder: Path) -> tuple[Path, Reader]:
    reader = _import(folder, PLAIN, "--data", folder / "tiny/dataset_1/train")
    return folder / "tiny/dataset_1/train/shard_0.tfrecord", reader


def image(folder: Path) -> tuple[Path, Reader]:
    file = folder / "0.png"
    return file, lambda: list(read_images([(file, 0)], (8, 8, 3)))


def installed(folder: Path) -> tuple[Path, Reader]:
    for name, axes in (("images-idx3", 3), ("labels-idx1", 1)):
        content = bytes((0, 0, 8, axes)) + axes * b"\0\0\0\1" + b"\0"
        (folder / f"train-{name}-ubyte.gz").write_bytes(gzip.compress(content))
    return folder / "train-images-idx3-ubyte.gz", lambda: read_pair(folder, "train")


def recipe(folder: Path) -> tuple[Path, Reader]:
    return folder / "recipe.toml", ("task", "build", folder / "recipe.toml", "--output", folder / "out")


def competition(folder: Path) -> tuple[Path, Reader]:
    return organise(folder), ("codabench", "bundle", folder / "competition.toml", "--output", folder / "b.zip")


def page(folder: Path) -> tuple[Path, Reader]:
    return folder / "logo.png", competition(folder)[1]


def _collect(folder: Path, source: object, *options: object) -> Reader:
    toml, results = organise(folder), ("--results", folder / "results.db", *options)
    return ("codabench", "collect", toml, source, "--phase", "Feedback", "--rerun", 0, *results)


def token(folder: Path) -> tuple[Path, Reader]:
    address = "https://127.0.0.1:1/competitions/1/"
    return folder / "token", _collect(folder, address, "--token-file", folder / "token")


def submitted(folder: Path) -> tuple[Path, Reader]:
    (folder / "here").mkdir()
    return folder / "here/submissions.csv", lambda: read_table(folder / "here")


def export(folder: Path) -> tuple[Path, Reader]:
    (folder / "exports/results").mkdir(parents=True)
    pack(folder / "exports", "ann", "return 1.0")
    return folder / "exports/results/ann.zip", _collect(folder, folder / "exports")


def archive(folder: Path) -> tuple[Path, Reader]:
    address = (folder / "tasks.zip").as_uri()
    return folder / "tasks.zip", ("task", "fetch", address, "--sha256", "0" * 64, "--tasks", folder / "tasks")


def database(folder: Path) -> tuple[Path, Reader]:
    return folder / "results.db", ("results", "--results", folder / "results.db")


#: Row of the table -> name of a door -> the door.
DOORS: dict[str, dict[str, Door]] = {
    "submission": {"file": submission_file, "zip": submission_zip, "folder": file_in_submission},
    "site: settings, reference data": {
        "settings": _of_site("data/site.json"),
        "reference": _of_site("data/reference_data/toy/model_configs.json"),
    },
    "site: records": {"records": _of_site("data/records.jsonl")},
    "site: other files": {
        "board": _of_site("leaderboard.json"), "page": _of_site("index.html"), "script": _of_site("assets/tables.js"),
    },
    "JSON of a task, `.predict`": {
        "config": _of_task("model_0/config.json"), "reference": _of_task("model_configs.json"),
        "origin": _of_task("fetched.json"), "predictions": predictions,
    },
    "mark of a hidden task": {"mark": _of_task("metadata")},
    "weights": {
        "task": _of_task("model_0/weights.hdf5"), "initial": _of_task("model_0/weights_init.hdf5"),
        "import": _of_import("tiny/model_0/config.json,weights.h5", "weights.h5"),
    },
    "shards": {
        "train": _of_task("dataset_1/train/shard_0.tfrecord"), "test": _of_task("dataset_1/test/shard_0.tfrecord"),
        "import": shard_of_import,
    },
    "table of models": {"table": table},
    "model to import": {
        name: _of_import(f"{name},{weights}", name)
        for name, weights in (
            ("model.keras", ""), ("model.pt2", ""), ("model.h5", ""), ("model.json", "weights.h5"),
        )
    } | {"weights.npz": _of_import("tiny/model_0/config.json,weights.npz", "weights.npz")},
    "arrays, `.npz`": {"data": _data("data.npz", lambda folder: None)},
    "arrays, `.npy`": {"inputs": _data("x.npy", _arrays), "labels": _data("y.npy", _arrays)},
    "images": {"image": image},
    "installed datasets": {"idx": installed},
    "TOML: recipe, competition": {"recipe": recipe, "competition": competition},
    "logo and pages of a competition": {"logo": page},
    "token, table of submissions": {"token": token, "table": submitted},
    "export of a platform": {"zip": export},
    "archive of tasks, `file:`": {"archive": archive},
    "results database of SQLite": {"database": database},
}  # fmt: skip
