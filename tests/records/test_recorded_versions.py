"""The versions that have records are the same if they are found in an index as if all records are read."""

import pytest

from harness.records import Records
from harness.records.versions import recorded_versions
from tests.records.evaluation_rows import evaluation
from tests.records.statements import execute

#: Name, digest and configuration of a version, and the task of its records; one of every two values is a beginning.
RECORDED = [
    ("a", "1", "x", "t1"), ("a", "1", "x", "t2"), ("a", "1", "xy", "t1"), ("a", "12", "x", "t2"),
    ("aa", "1", "w", "t1"), ("b", "0", "x", "t2"), ("b", "0", "y", "t1"), ("b", "2", "x", "t1"),
]  # fmt: skip


@pytest.mark.parametrize("tasks", [["t1"], ["t2"], ["t1", "t2"], ["t3"], []])
def test_versions_are_found_with_and_without_the_index(location: str, tasks: list[str]) -> None:
    names = ("submission", "submission_digest", "configuration", "task")
    with Records(location) as records:
        for version in RECORDED:
            columns = dict(zip(names, version, strict=True))
            records.add(*(evaluation(model=model, **columns) for model in ("model_0", "model_1")))
        expected = sorted({version[:3] for version in RECORDED if version[3] in tasks})
        assert sorted(recorded_versions(records, tasks)) == expected
        execute(location, "DROP INDEX ix_evaluations_version")
        assert sorted(recorded_versions(records, tasks)) == expected


def test_no_records(location: str) -> None:
    with Records(location) as records:
        assert recorded_versions(records, ["t1"]) == []
