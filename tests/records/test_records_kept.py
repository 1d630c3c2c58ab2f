"""Tests of the results database: values come back bit for bit, and queries find their rows, indexed or not."""

import subprocess
import sys
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import create_engine, event, insert
from sqlalchemy.engine import Engine

from harness.outcome import WITHHELD, Outcome
from harness.records import EVALUATIONS, Records, Request
from harness.records.versions import recorded_versions
from tests.records.evaluation_rows import evaluation, request
from tests.records.statements import execute

ROOT = Path(__file__).parents[2]

UNUSUAL: dict[str, Any] = {
    "key": "k" * 64,
    "submission": "cosine_margin:layer=-1, 2+2.5",
    "submission_digest": "a" * 64,
    "is_baseline": True,
    "task": "task1_v4",
    "model": "model_148",
    "model_digest": "b" * 64,
    "data_digest": "c" * 64,
    "repeat": 17,
    "outcome": str(Outcome.OK),
    "value": 0.1 + 0.2,
    "message": WITHHELD,
    "startup_wall_s": 2.2000000000000002,
    "load_wall_s": 1 / 3,
    "load_cpu_s": 2.9999999999999996,
    "call_wall_s": 299.99999999999994,
    "call_cpu_s": 1e-9,
    "peak_memory_bytes": 2**41 + 1,
    "time_limit_s": 0.1,
    "time_budget": "average",
    "memory_limit_bytes": 2**42 + 1,
    "run_seed": 2**63 - 1,
    "seed": 2**32 - 1,
    "runtime": "keras2",
    "sandbox": "none",
    "versions": "keras 3.12.0, numpy 2.3.5",
    "harness_version": "1.0.0rc1",
    "loader": "d" * 64,
    "environment": {"tensorflow": "2.21.0", "gpu": "", "processor": "größe of π"},
    "output_tail": "first\nsecond\té\n",
    "started_at": datetime(2026, 3, 29, 1, 59, 59, 1, tzinfo=UTC),
    "finished_at": datetime(2026, 3, 29, 1, 59, 59, 999_999, tzinfo=UTC),
}
#: Directories may have names of 255 characters; Podman takes the path of a runtime as its name.
LONG: dict[str, Any] = UNUSUAL | {"task": "t" * 255, "model": "m" * 255, "sandbox": f"docker/{'/long' * 49}"}
for one in (UNUSUAL, LONG):
    one["configuration"] = evaluation(**one).configuration
FAILED = {"outcome": str(Outcome.BAD_VALUE), "value": None, "message": "expected a number, found 'nan'; \"quoted\""}


def stored(location: str) -> list[Any]:
    with Records(location, read_only=True) as records:
        return list(records.whole_of())


@pytest.mark.parametrize("columns", [UNUSUAL, UNUSUAL | FAILED, LONG])
def test_every_column_comes_back(columns: dict[str, Any], location: str) -> None:
    assert set(columns) == {column.name for column in EVALUATIONS.columns} - {"id"}
    about = {"team": "The Seven", "description": "a margin", "paper": "https://example.org"}
    with Records(location) as records:
        records.add(evaluation(**columns))
        records.ask([request(evaluation(**columns), **about)])
        (asked,) = records.requests()
    (row,) = stored(location)
    assert {name: getattr(row, name) for name in columns} == columns
    assert row.id == 1
    assert {name: getattr(asked, name) for name in about} == about
    assert (asked.task, asked.configuration) == (row.task, row.configuration)


def test_values_are_on_disk_with_all_their_digits_when_add_returns(location: str) -> None:
    values = [2 / 3, 5e-324, 1.7976931348623157e308, 0.2954181599391297, 1e16 + 2]
    with Records(location) as records:
        records.add(*(evaluation(value=value) for value in values))
        found = execute(location, "SELECT value FROM evaluations ORDER BY id")
    assert [value.hex() for (value,) in found] == [value.hex() for value in values]


def test_of_several_rows_with_one_key_the_newest_counts_and_the_oldest_call_comes_first(location: str) -> None:
    with Records(location) as records:
        for model, value in (("model_1", 1.0), ("model_0", 2.0), ("model_1", 3.0), ("model_2", 4.0)):
            records.add(evaluation(model=model, value=value))
    assert [(row.model, row.value) for row in stored(location)] == [
        ("model_0", 2.0), ("model_1", 3.0), ("model_2", 4.0),
    ]  # fmt: skip
    assert execute(location, "SELECT COUNT(*) FROM evaluations") == [(4,)], "rows are only ever added"


def test_only_the_keys_that_are_asked_for(location: str) -> None:
    with Records(location) as records:
        for key in "abc":
            records.add(evaluation(key=key))
        records.add(evaluation(key="a", outcome=Outcome.CRASH))
        for read in (records.newest, records.ended):
            assert [(row.key, row.outcome) for row in read(["c", "a", "unknown"])] == [("c", "OK"), ("a", "CRASH")]
        assert (list(records.newest([])), records.ended([])) == ([], [])


WRITER = """
import sys
from harness.records import Evaluation, Records
from tests.records.evaluation_rows import evaluation

with Records(sys.argv[1]) as records:
    for number in range(50):
        records.add(evaluation(submission=sys.argv[2], model=f"model_{number}", value=float(number)))
"""


@pytest.mark.rest
def test_two_harnesses_at_once_lose_nothing(location: str) -> None:
    """Both processes create the file, the table and its indexes."""
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, location, name], cwd=ROOT, stderr=subprocess.PIPE)
        for name in ("one", "two")
    ]
    assert [writer.communicate()[1] for writer in writers] == [b"", b""]
    rows = stored(location)
    assert {(row.submission, row.model, row.value) for row in rows} == {
        (name, f"model_{number}", float(number)) for name in ("one", "two") for number in range(50)
    }
    assert [row.id for row in rows] == list(range(1, 101))


def test_the_file_is_known_whatever_the_form_of_the_url_or_the_characters_in_its_name(tmp_path: Path) -> None:
    """The harness must know the file's path to keep submissions from reading the file."""
    for form, name in (
        ("{}/x.db", "x.db"), ("sqlite:///{}/x.db", "x.db"), ("sqlite+pysqlite:///{}/x.db", "x.db"),
        ("sqlite:///file:{}/a%20b.db?uri=true", "a b.db"), ("{}/which?.db", "which?.db"),
    ):  # fmt: skip
        with Records(form.format(tmp_path)) as records:
            assert records.file == tmp_path / name
            assert records.file.is_file()


def test_every_column_says_what_it_holds() -> None:
    assert [column.name for column in EVALUATIONS.columns if not (column.comment or "").endswith(".")] == []


def test_a_few_keys_among_many_rows_are_found_by_the_index(tmp_path: Path) -> None:
    location = tmp_path / "results.db"
    with Records(str(location)) as records:
        columns = asdict(evaluation())
        columns.pop("id")
        many = [columns | {"key": f"{number:064}", "output_tail": "x" * 2_000} for number in range(5_000)]
        with create_engine(f"sqlite:///{location}").begin() as connection:
            connection.execute(insert(EVALUATIONS), many)
        statements: list[str] = []

        @event.listens_for(Engine, "before_cursor_execute")
        def note(connection, cursor, statement, *_):  # type: ignore[no-untyped-def]
            statements.append(statement)

        assert len(records.ended([f"{number:064}" for number in range(0, 5_000, 50)])) == 100
        event.remove(Engine, "before_cursor_execute", note)
        queries = [statement for statement in statements if statement.startswith("SELECT")]
        assert queries
        for query in queries:
            assert "output_tail" not in query
            literal = query.replace("?", "'x'")
            with create_engine(f"sqlite:///{location}").connect() as connection:
                plan = [row[3] for row in connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {literal}")]
            assert any("USING COVERING INDEX ix_evaluations_key" in step for step in plan), plan
            assert not any(step.startswith("SCAN") for step in plan), plan


def test_of_equal_requests_the_last_is_returned(tmp_path: Path) -> None:
    def asked(digest: str, minute: int, task: str = "toy") -> Request:
        row = evaluation(submission="mine", submission_digest=digest, task=task)
        return request(row, requested_at=datetime(2026, 1, 1, 12, minute, tzinfo=UTC))

    with Records(str(tmp_path / "results.db")) as records:
        assert records.requests() == []
        records.ask([asked("v1", 0), asked("v1", 0, "second")])
        records.ask([asked("v2", 1)])
        records.ask([asked("v1", 2)])
        found = [(row.submission_digest, row.task, row.requested_at.minute) for row in records.requests()]
    assert found == [("v1", "second", 0), ("v2", "toy", 1), ("v1", "toy", 2)]


#: Name, digest and configuration of a version, and the task of its records; one of every two values is a beginning.
RECORDED = [
    ("a", "1", "x", "t1"), ("a", "1", "x", "t2"), ("a", "1", "xy", "t1"), ("a", "12", "x", "t2"),
    ("aa", "1", "w", "t1"), ("b", "0", "x", "t2"), ("b", "0", "y", "t1"), ("b", "2", "x", "t1"),
]  # fmt: skip


@pytest.mark.parametrize("tasks", [["t1"], ["t2"], ["t1", "t2"], ["t3"], []])
def test_versions_are_found_with_and_without_the_index(location: str, tasks: list[str]) -> None:
    names = ("submission", "submission_digest", "configuration", "task")
    with Records(location) as records:
        assert recorded_versions(records, tasks) == []
        for version in RECORDED:
            columns = dict(zip(names, version, strict=True))
            records.add(*(evaluation(model=model, **columns) for model in ("model_0", "model_1")))
        expected = sorted({version[:3] for version in RECORDED if version[3] in tasks})
        assert sorted(recorded_versions(records, tasks)) == expected
        execute(location, "DROP INDEX ix_evaluations_version")
        assert sorted(recorded_versions(records, tasks)) == expected
