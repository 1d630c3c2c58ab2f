"""Tests of queries: the database returns the requested records, with and without an index."""

from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import create_engine, event, insert
from sqlalchemy.engine import Engine

from harness.records import EVALUATIONS, Records, Request
from harness.records.versions import recorded_versions
from tests.records.evaluation_rows import evaluation, request
from tests.records.statements import execute


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
