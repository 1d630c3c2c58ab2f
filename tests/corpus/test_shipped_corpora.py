"""Tests of the shipped corpora: they agree with their recipes and records, whether their networks are here or not."""

import json
import lzma
import re
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path

import h5py
import numpy as np
import pytest
from e2e.real_runs import PGDL
from in_process import Pgdl

from harness.corpus.recipe import read_recipe
from harness.format.reference import read_reference
from harness.submission import Submission
from harness.task.summary import gap_error

TASK_DATA = Path(__file__).parents[2] / "task_data"
TASKS = sorted(path.name for path in (TASK_DATA / "input_data").iterdir())
RECORDED = TASK_DATA / "recorded"
CORPORA = [*(TASK_DATA / "reference_data" / name for name in TASKS), *sorted((RECORDED / "reference_data").iterdir())]


def test_demo_tasks_are_small_and_valid():
    assert sum(path.stat().st_size for path in TASK_DATA.rglob("*") if path.is_file()) <= 18_000_000
    done = subprocess.run([*PGDL, "task", "validate", str(TASK_DATA)], capture_output=True, text=True)
    assert (done.returncode, done.stdout.count(": valid")) == (0, len(TASKS)), done.stdout


@pytest.mark.parametrize("directory", CORPORA, ids=lambda path: path.name)
def test_the_shipped_recipe_has_made_one_fitting_model_in_every_cell_and_the_gaps_are_spread(directory):
    recipe = read_recipe(TASK_DATA / "recipes" / f"{directory.name}.toml")
    is_recorded = RECORDED in directory.parents
    assert (directory / "recipe.toml").read_text() == recipe.text
    if is_recorded:
        assert (directory / "recipe.sha256").read_text() == recipe.digest
    reference = read_reference(directory / "model_configs.json")
    records = json.loads((directory / "training.json").read_text())
    assert [record["cell"] for record in records] == [cell.number for cell in recipe.cells]
    for record in records:
        model = f"model_{record['cell']}"
        found = {"train_acc": reference.train_accuracy[model], "test_acc": reference.test_accuracy[model]}
        assert found == {name: record["metrics"][name] for name in found}
    gaps = [*reference.gaps.values()]
    if is_recorded:
        assert min(reference.train_accuracy.values()) > 0.98
        assert max(gaps) - min(gaps) > 0.05
        error = gap_error(10_000, reference).share
        assert error is not None
        assert error < 0.13, "the gaps' own error is several times smaller than their spread"
    else:
        assert np.std(gaps) > 2 * np.sqrt(0.08 * 0.92 / 1477), "twice the standard error of an accuracy of 0.92"
        assert len(set(gaps)) > 20
        assert np.mean([record["reached"] for record in records]) >= 0.9
        assert min(reference.train_accuracy.values()) > 0.9


@pytest.mark.rest
def test_a_cell_that_is_built_again_starts_the_same_and_ends_alike(tmp_path):
    """Data and initial weights are equal to the last bit. Trained weights differ: rounding depends on the processor."""
    name = "digits_vgg"  # the quickest recipe
    file = TASK_DATA / "recipes" / f"{name}.toml"
    command = [*PGDL, "task", "build", str(file), "--output", str(tmp_path), "--limit", "1", "--workers", "1"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    built, shipped = tmp_path / "building" / name, TASK_DATA / "input_data" / name
    shards = list((shipped / "dataset_1").rglob("*.tfrecord"))
    assert shards
    for shard in shards:
        assert (built / "data" / shard.relative_to(shipped / "dataset_1")).read_bytes() == shard.read_bytes()
    assert (built / "cell_0" / "config.json").read_text() == (shipped / "model_0" / "config.json").read_text()
    assert weights(built / "cell_0" / "weights_init.hdf5") == weights(shipped / "model_0" / "weights_init.hdf5")
    record = json.loads((built / "records" / "0.json").read_text())
    assert record["reached"]
    reference = read_reference(TASK_DATA / "reference_data" / name / "model_configs.json")
    assert record["metrics"]["test_acc"] == pytest.approx(reference.test_accuracy["model_0"], abs=0.1)


def weights(path: Path) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    with h5py.File(path) as file:
        file.visititems(lambda name, item: found.update({name: item[()].tobytes()} if hasattr(item, "shape") else {}))
    return found


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("recorded") / "results.db"
    file.write_bytes(lzma.decompress((RECORDED / "fashion.db.xz").read_bytes()))
    return file


@pytest.mark.rest
def test_measures_are_scored_without_the_networks_as_the_page_says(pgdl: Pgdl, results: Path) -> None:
    scored = pgdl("score", "--tasks", RECORDED, "--results", results, "--format", "json")
    assert (scored.code, scored.err) == (1, ""), "some measures refuse some of the networks"
    found = json.loads(scored.out)["submissions"]
    complete = sorted((one for one in found if one["complete"]), key=lambda one: (-one["score"], one["submission"]))
    page = (TASK_DATA.parent / "docs" / "fashion-mnist.md").read_text()
    rows = re.findall(r"^\| \d+ \| `(\w+)` \| [^|]+ \| ([\d.]*) \|", page, re.MULTILINE)
    assert len(found) == 219
    assert rows == [(one["submission"], f"{one['score']:.2f}") for one in complete[:10]]


@pytest.mark.rest
def test_a_measure_is_scored_by_its_name_whatever_its_version_here_if_its_records_are_of_these_networks(
    pgdl: Pgdl, results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The records are of another version of the measure, which cannot be called here without networks."""
    few = tmp_path / "few.db"
    few.write_bytes(results.read_bytes())

    def execute(*statements: str) -> None:
        with closing(sqlite3.connect(few)) as database, database:
            for statement in statements:
                database.execute(statement)

    def run(*arguments: str):
        return pgdl(*arguments, "--tasks", RECORDED, "--results", few)

    tables = ("evaluations", "requests")
    execute(*(f"DELETE FROM {one} WHERE submission NOT IN ('pal_inter_l0', 'num_params', 'vr')" for one in tables))
    others = "recorded with another version of the library than this one: "
    with monkeypatch.context() as patch:
        patch.setattr(Submission, "digest", "0" * 64)
        ended = run("score", "pal_inter_l0")
        assert (ended.code, f"{others}pal_inter_l0\n" in ended.out) == (0, True)
        ended = run("report", "pal_inter_l0")
        assert (ended.code, ended.out.splitlines()[-1]) == (0, f"{others}pal_inter_l0")
        assert "no records of 'pal_inter_l7'" in run("score", "pal_inter_l7").err
    execute("UPDATE evaluations SET model_digest = 'x' WHERE submission = 'vr' AND task = 'fashion_vgg'")
    scored = run("score", "vr")
    assert (scored.code, "stale: records of vr (64 on fashion_vgg)" in scored.out) == (1, True)
    execute(*(f"UPDATE {table} SET submission = 'vr:older=1' WHERE submission = 'vr'" for table in tables))
    ended = run("score")
    assert (ended.err, others in ended.out, "vr:older=1" in ended.out) == ("", True, True), "an unknown parameter"
