"""Tests of corpora without networks in the repository: they are scored from their records."""

import json
import lzma
import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from in_process import Pgdl
from test_demo_tasks import TASK_DATA, require_a_model_in_every_cell

from harness.corpus.recipe import read_recipe
from harness.format.reference import read_reference
from harness.submission import Submission
from harness.task.summary import gap_error

pytestmark = pytest.mark.rest

RECORDED = TASK_DATA / "recorded"
PAGE = TASK_DATA.parent / "docs" / "fashion-mnist.md"
CORPORA = sorted(path.name for path in (RECORDED / "reference_data").iterdir())


@pytest.fixture(params=CORPORA)
def corpus(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_the_gaps_are_those_of_the_shipped_recipe(corpus: str) -> None:
    directory = RECORDED / "reference_data" / corpus
    recipe = read_recipe(TASK_DATA / "recipes" / f"{corpus}.toml")
    assert (directory / "recipe.sha256").read_text() == recipe.digest
    require_a_model_in_every_cell(recipe, directory)


def test_the_networks_fit_and_their_gaps_are_spread(corpus: str) -> None:
    reference = read_reference(RECORDED / "reference_data" / corpus / "model_configs.json")
    assert min(reference.train_accuracy.values()) > 0.98
    gaps = reference.gaps.values()
    error = gap_error(10_000, reference)
    assert max(gaps) - min(gaps) > 0.05
    assert error.share is not None
    assert error.share < 0.13, "the gaps' own error is several times smaller than their spread"


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("recorded") / "results.db"
    file.write_bytes(lzma.decompress((RECORDED / "fashion.db.xz").read_bytes()))
    return file


def test_measures_are_scored_without_the_networks_as_the_page_says(pgdl: Pgdl, results: Path) -> None:
    scored = pgdl("score", "--tasks", RECORDED, "--results", results, "--format", "json")
    assert (scored.code, scored.err) == (1, ""), "some measures refuse some of the networks"
    found = json.loads(scored.out)["submissions"]
    complete = sorted((one for one in found if one["complete"]), key=lambda one: (-one["score"], one["submission"]))
    rows = re.findall(r"^\| \d+ \| `(\w+)` \| [^|]+ \| ([\d.]*) \|", PAGE.read_text(), re.MULTILINE)
    assert len(found) == 219
    assert rows == [(one["submission"], f"{one['score']:.2f}") for one in complete[:10]]


@pytest.fixture
def few(results: Path, tmp_path: Path) -> Path:
    """A database with the records of three measures only, for a small board."""
    file = tmp_path / "few.db"
    file.write_bytes(results.read_bytes())
    with closing(sqlite3.connect(file)) as database, database:
        for table in ("evaluations", "requests"):
            database.execute(f"DELETE FROM {table} WHERE submission NOT IN ('pal_inter_l0', 'num_params', 'vr')")
    return file


def test_records_of_other_networks_do_not_count(pgdl: Pgdl, few: Path) -> None:
    """The records are changed to name other networks than those of the corpus."""
    with closing(sqlite3.connect(few)) as database, database:
        database.execute("UPDATE evaluations SET model_digest = 'x' WHERE submission = 'vr' AND task = 'fashion_vgg'")
    scored = pgdl("score", "vr", "--tasks", RECORDED, "--results", few)
    assert scored.code == 1
    assert "stale: records of vr (64 on fashion_vgg)" in scored.out


def test_a_measure_is_scored_by_its_name_whatever_its_version_here(
    pgdl: Pgdl, few: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The records are of another version of the measure, which cannot be called here without networks."""
    others = "recorded with another version of the library than this one: "
    monkeypatch.setattr(Submission, "digest", "0" * 64)
    ended = pgdl("score", "pal_inter_l0", "--tasks", RECORDED, "--results", few)
    assert ended.code == 0
    assert f"{others}pal_inter_l0\n" in ended.out
    ended = pgdl("report", "pal_inter_l0", "--tasks", RECORDED, "--results", few)
    assert (ended.code, ended.out.splitlines()[-1]) == (0, f"{others}pal_inter_l0")
    with closing(sqlite3.connect(few)) as database, database:
        for table in ("evaluations", "requests"):
            database.execute(f"UPDATE {table} SET submission = 'vr:older=1' WHERE submission = 'vr'")
    ended = pgdl("score", "--tasks", RECORDED, "--results", few)
    assert (ended.err, others in ended.out, "vr:older=1" in ended.out) == ("", True, True), "an unknown parameter"
    assert "no records of 'pal_inter_l7'" in pgdl("score", "pal_inter_l7", "--tasks", RECORDED, "--results", few).err
