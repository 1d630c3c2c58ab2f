"""Every reader of files that a stranger may have written, with a sample that it accepts.

A reader gets the directory of a sample in which a file was changed. The reader must return a result, or raise
`UserError` or an error that the reader's package documents.
"""

import hashlib
import io
import tempfile
from collections.abc import Callable
from pathlib import Path

import pgdl
from harness.board.formats import write
from harness.board.predictions import read_predictions
from harness.ci.report import ChangeReport, ReportError
from harness.codabench.collection import read_records
from harness.codabench.competition import read_competition
from harness.codabench.results import read_result
from harness.codabench.settings import PhaseSettings
from harness.corpus.recipe import read_recipe
from harness.corpus.sources import _npz as read_npz_of_recipe
from harness.credentials import Address
from harness.fetch.archive import fetch_tasks
from harness.fetch.listing import read_listing
from harness.format.architecture import read_architecture
from harness.format.fetched import read_fetched
from harness.format.mark import find_marks, is_hidden
from harness.format.reference import read_reference
from harness.format.shards import count_samples, expected_samples, read_samples
from harness.format.weights import read_weights
from harness.importer.data import read_examples, write_arrays
from harness.importer.model import StoredModel
from harness.importer.table import ImportedRow, read_table
from harness.inspector.answer import READY, parse_answer, write_answer
from harness.inspector.archive import read_zip
from harness.inspector.folder import read_folder
from harness.inspector.main import inspect
from harness.records import Claims, Records, add_records
from harness.site import verify_site, write_site
from harness.site.files import read_files
from harness.submission import find_flaw
from harness.task.contents import read_known
from harness.task.layout import TaskDirectory
from harness.torch_import.pt2 import read_pt2
from harness.torch_import.translate import translate
from tests.fuzz import samples
from tests.fuzz.bounded import Reader, main

REFERENCE, CODE = "tiny/model_configs.json", "folder/complexity.py"


def _submission(directory: Path) -> None:
    """Read submissions as the bounded process does, and parse its answer."""
    for read, path in ((read_zip, directory / "submission.zip"), (read_folder, directory / "folder")):
        answer = io.BytesIO(READY)
        answer.seek(len(READY))
        write_answer(inspect(read, str(path)), answer)
        parse_answer(answer.getvalue())


def _weights(directory: Path) -> None:
    model = directory / "tiny/model_0"
    architecture = read_architecture(model)
    read_weights((model / "weights.hdf5").read_bytes(), model / "weights.hdf5", architecture, samples.SHAPES)


def _shards(directory: Path) -> None:
    (shard,) = (directory / "tiny/dataset_1/train").glob("*.tfrecord")
    for read in (count_samples, expected_samples, read_samples):
        list(found) if not isinstance(found := read(shard), int) else found  # type: ignore[operator]


def _model(file: str, weights: str | None = None) -> Callable[[Path], object]:
    def read(directory: Path) -> object:
        row = ImportedRow("table", directory / file, directory / weights if weights else None)
        return StoredModel(row).weights(samples.SHAPES)

    return read


def _examples(name: str) -> Callable[[Path], object]:
    def read(directory: Path) -> object:
        found = read_examples(str(directory / name), "train", (5, 5, 1))
        with tempfile.TemporaryDirectory() as target:
            return write_arrays(found, Path(target, "arrays"), (5, 5, 1), 2, 255.0)

    return read


def _unpack(name: str) -> Callable[[Path], object]:
    def read(directory: Path) -> object:
        file = directory / name
        digest = hashlib.sha256(file.read_bytes()).hexdigest()
        return fetch_tasks(Address(file.as_uri(), "ARCHIVE"), digest, directory / "unpacked")

    return read


def _listing(directory: Path) -> object:
    with (directory / "tasks.zip").open("rb") as file:
        url = Address("https://example.org/tasks.zip", "the catalogue")
        return read_listing(file, ["tiny"], url).of("tiny", url)


def _database(directory: Path) -> object:
    """Read a database in all ways in which boards, lists of calls and other programs read it."""
    file, tasks = directory / "results.db", directory / "tasks"
    with Records(str(file), read_only=True) as records:
        records.requests()
        list(records.whole_of())
        records.distinct("submission")
    pgdl.results(file, submissions=["mine"], outcomes=["ok"])
    return pgdl.score(tasks_dir=tasks, results=file)


def _board(directory: Path) -> None:
    """Make a board in every format, and a site; assert that the site verifies."""
    found = pgdl.board(tasks_dir=directory / "tasks", results=directory / "results.db", with_site=True)
    write(found.board, directory / "leaderboard")
    assert found.site is not None
    write_site(found.site, directory / "site")
    assert not verify_site(directory / "site").differences


def _merge(directory: Path) -> object:
    with Records(str(directory / "own.db")) as records:
        return add_records(records, directory / "results.db")


def _writing(directory: Path) -> None:
    with Records(str(directory / "results.db")) as records, Claims(records) as claims:
        claims.take(["k"])


def _predictions(directory: Path) -> object:
    references = TaskDirectory(directory / "tasks").references()
    return read_predictions(directory / "values", {name: read_reference(path) for name, path in references.items()})


def _result(directory: Path) -> object:
    PhaseSettings.read(directory)
    return read_result(directory / "output")


#: Name -> reader. A name begins with the kind of sample.
READERS = {
    "submission": Reader(samples.submission, _submission),
    "submission: flaw": Reader(samples.submission, lambda at: find_flaw((at / CODE).read_bytes()), CODE),
    "task: config": Reader(samples.task, lambda at: read_architecture(at / "tiny/model_0"), "tiny/model_0/config.json"),
    "task: weights": Reader(samples.task, _weights, "tiny/model_0/*"),
    "task: shards": Reader(samples.task, _shards, "tiny/dataset_1/train/*"),
    "task: reference": Reader(samples.task, lambda at: read_reference(at / REFERENCE), REFERENCE),
    "task: mark": Reader(samples.task, lambda at: is_hidden(find_marks([at / "tiny"])), "tiny/metadata"),
    "task: contents": Reader(samples.task, lambda at: read_known(at / "tiny"), "tiny/contents.json"),
    "task: origin": Reader(samples.task, lambda at: read_fetched(at / "tiny/fetched.json"), "tiny/fetched.json"),
    "architecture: graph": Reader(samples.keras_graph, read_architecture),
    "import: table": Reader(samples.models, lambda at: read_table(at / "models.csv"), "*.csv"),
    "import: .keras": Reader(samples.models, _model("a.keras"), "a.keras"),
    "import: JSON and .npz": Reader(samples.models, _model("b.json", "b.npz"), "b.*"),
    "import: JSON and .h5": Reader(samples.models, _model("b.json", "c.h5"), "c.h5"),
    "import: whole .h5": Reader(samples.models, _model("d.h5"), "d.h5"),
    "import: .pt2": Reader(samples.exported, lambda at: translate(read_pt2(at / "e.pt2")).model.architecture, "e.pt2"),
    "data: .npz": Reader(samples.arrays, _examples("data.npz"), "data.npz"),
    "data: .npy": Reader(samples.arrays, _examples("x.npy"), "*.npy"),
    "data: images": Reader(samples.arrays, _examples("images"), "images/*/*"),
    "data: .npz of a recipe": Reader(samples.arrays, lambda at: read_npz_of_recipe(at / "data.npz"), "data.npz"),
    "recipe": Reader(samples.recipes, lambda at: read_recipe(at / "recipe.toml"), "recipe.toml"),
    "competition": Reader(samples.recipes, lambda at: read_competition(at / "competition.toml"), "competition.toml"),
    "archive: listing": Reader(samples.archives, _listing, "tasks.zip"),
    "archive: zip": Reader(samples.archives, _unpack("tasks.zip"), "tasks.zip"),
    "archive: tar": Reader(samples.archives, _unpack("tasks.tar"), "tasks.tar"),
    "archive: tar.gz": Reader(samples.archives, _unpack("tasks.gz"), "tasks.gz"),
    "site: data": Reader(samples.site, lambda at: read_files(at / "site"), "site/data/**/*"),
    "site": Reader(samples.site, lambda at: verify_site(at / "site"), "site/**/*"),
    "results: score": Reader(samples.database, _database, "results.db"),
    "results: board": Reader(samples.database, _board, "results.db"),
    "results: merge": Reader(samples.database, _merge, "results.db"),
    "results: run": Reader(samples.database, _writing, "results.db"),
    "predictions": Reader(samples.predictions, _predictions, "values/*"),
    "result of a platform": Reader(samples.results, _result, "**/*"),
    "export of a platform": Reader(
        samples.results, lambda at: read_records(at / "mine.zip", samples.MINE, samples.settings(), {}), "mine.zip"
    ),
    "report of a change": Reader(
        samples.report, lambda at: ChangeReport.parse((at / "report.json").read_bytes()), errors=(ReportError,)
    ),
}  # fmt: skip

if __name__ == "__main__":
    main(READERS)
