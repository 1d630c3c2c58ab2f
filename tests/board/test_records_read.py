"""Tests of how many records a board reads: only those of its rows, though most records are of replaced versions."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import pgdl
from harness.board.leaderboard import build_board
from harness.format.reference import read_reference
from harness.records import Records
from harness.task.layout import TaskDirectory
from tests.board.board_examples import GAPS, MEASURE, MODELS, collect, rows, write_reference
from tests.records.evaluation_rows import request
from tests.records.statements import execute

#: Versions of a submission that were replaced.
OLD = [f"old{number}" for number in range(10)]


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """A database of two submissions: ten old versions of each, and three records per call of the current version."""
    file = tmp_path / "results.db"
    with Records(str(file)) as records:
        for name, values in (("mine", MEASURE), ("theirs", GAPS)):
            versions = [rows(name, submission_digest=version) for version in OLD]
            for made in (*versions, *[rows(name, values, submission_digest="new")] * 3):
                records.add(*made)
                records.ask([request(made[0])])
    return file


@pytest.fixture
def tasks(tmp_path: Path) -> Path:
    return write_reference(tmp_path / "tasks")


@contextmanager
def counted(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Any]]:
    """Yield a list that collects the records that are read in the context."""
    read: list[Any] = []
    whole = Records.newest_of

    def newest_of(self: Records, *conditions: Any, **options: Any) -> Iterator[Any]:
        for row in whole(self, *conditions, **options):
            read.append(row)
            yield row

    with monkeypatch.context() as patch:
        patch.setattr(Records, "newest_of", newest_of)
        yield read


def test_a_board_reads_the_newest_records_of_present_versions(
    tasks: Path, database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with counted(monkeypatch) as read:
        found = pgdl.board(tasks_dir=tasks, results=database).board
    assert len(read) == 2 * len(MODELS)
    assert {row.submission_digest for row in read} == {"new"}
    assert [row.submission for row in found.rows] == ["theirs", "mine"]


def test_a_score_reads_the_records_of_its_submission(
    tasks: Path, database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with counted(monkeypatch) as read:
        found = pgdl.score("mine", tasks_dir=tasks, results=database)
    assert {(row.submission, row.submission_digest) for row in read} == {("mine", "new")}
    assert len(read) == len(MODELS)
    (line,) = [line for line in found.remarks if line.startswith("mine:")]
    assert line.endswith("not shown: old0, old1, old2 and 7 more")


def test_a_database_without_the_index_is_read_as_it_is(tasks: Path, database: Path) -> None:
    with_index = pgdl.board(tasks_dir=tasks, results=database).board.content
    execute(str(database), "DROP INDEX ix_evaluations_version")
    before = database.read_bytes()
    assert pgdl.board(tasks_dir=tasks, results=database).board.content == with_index
    assert database.read_bytes() == before


def test_the_newest_records_of_a_version_are_found_in_the_index(database: Path) -> None:
    query = (
        "EXPLAIN QUERY PLAN SELECT max(id) FROM evaluations WHERE submission = 'mine' AND submission_digest = 'new' "
        "AND configuration = 'c' AND task IN ('toy') GROUP BY key"
    )
    plans = [row[-1] for row in execute(str(database), query)]
    assert any("COVERING INDEX ix_evaluations_version" in plan for plan in plans)


@pytest.mark.parametrize("everything", [False, True])
def test_records_without_a_request_stand_as_if_all_were_read(everything: bool, tasks: Path, tmp_path: Path) -> None:
    """The board has the rows of a board of all records; a submission with records of unknown models only has no row."""
    file = tmp_path / "unasked.db"
    first, second = rows("mine", submission_digest="v1"), rows("mine", {"model_0": 9.0}, submission_digest="v2")
    asked = rows("theirs", GAPS, submission_digest="v1")
    made = [*second, *first, *rows("mine", {"model_1": 1.0}, submission_digest="v2"), *asked]
    made += [*rows("theirs", submission_digest="v2"), *rows("odd", {"unknown": 1.0})]
    requests = [request(asked[0])]
    with Records(str(file)) as records:
        records.add(*made)
        records.ask(requests)
    references = {name: read_reference(path) for name, path in TaskDirectory(tasks).references().items()}
    expected = build_board(collect(made, references, requests, everything=everything), references)
    found = pgdl.board(tasks_dir=tasks, results=file, everything=everything).board
    assert found.content["rows"] == expected.content["rows"]
