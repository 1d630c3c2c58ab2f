"""Tests of adding records of another database: no existing record is replaced."""

from collections.abc import Sequence
from datetime import UTC
from pathlib import Path

import pytest
from evaluation_rows import evaluation, request
from statements import execute

from harness.errors import UserError
from harness.outcome import Outcome
from harness.records import EVALUATIONS, Evaluation, Records, add_records


def write(file: Path, *evaluations: Evaluation, requests: Sequence[str] = ()) -> Path:
    with Records(str(file)) as records:
        records.add(*evaluations)
        records.ask(request(evaluation(submission=name)) for name in requests)
    return file


def content(file: Path) -> list[tuple[str, str, float | None]]:
    with Records(str(file)) as records:
        return [(row.model, row.outcome, row.value) for row in records.newest_of()]


def test_rows_that_are_new_are_added_with_all_columns(tmp_path):
    theirs = evaluation(model="model_1", value=2.0, output_tail="seen", environment={"python": "3.13"})
    mine, other = write(tmp_path / "mine", evaluation()), write(tmp_path / "other", evaluation(value=9.0), theirs)
    with Records(str(mine)) as records:
        assert add_records(records, other) == 1
        assert add_records(records, other) == 0
        (row,) = records.whole_of(EVALUATIONS.c.model == "model_1")
    assert (row.output_tail, row.environment, row.started_at.tzinfo) == ("seen", {"python": "3.13"}, UTC)
    assert content(mine) == [("model_0", "OK", 1.0), ("model_1", "OK", 2.0)]
    assert content(other) == [("model_0", "OK", 9.0), ("model_1", "OK", 2.0)]


def test_what_a_machine_failed_on_is_no_result(tmp_path):
    """A record that has replaced a failure of the machine is not replaced by this failure again."""
    failed = {"outcome": Outcome.INFRA_ERROR}
    mine = write(tmp_path / "mine", evaluation(**failed))
    other = write(tmp_path / "other", evaluation(value=3.0), evaluation(model="model_1", **failed))
    later = write(tmp_path / "later", evaluation(model="model_2"), evaluation(model="model_2", **failed))
    with Records(str(mine)) as records:
        assert (add_records(records, other), add_records(records, later)) == (1, 0)
    assert content(mine) == [("model_0", "OK", 3.0)]


def test_requests_are_added_once(tmp_path):
    mine, other = write(tmp_path / "mine", requests=["a"]), write(tmp_path / "other", requests=["a", "b"])
    with Records(str(mine)) as records:
        for _ in range(2):
            add_records(records, other)
        assert [(one.submission, one.merged_at is None) for one in records.requests()] == [("a", True), ("b", False)]


def test_a_missing_file_and_files_of_other_content_are_one_line(tmp_path):
    mine, other = write(tmp_path / "mine", evaluation(model="model_1")), write(tmp_path / "other", evaluation())
    (tmp_path / "text").write_text("no database")
    execute(str(other), "update evaluations set started_at = 'yesterday'")
    with Records(str(mine)) as records:
        for name, problem in (
            ("missing", "no such results file; name another database with --add-records"), ("text", "not a database"),
            ("other", f"{other}, table evaluations, row 1, column started_at: expected a time"),
        ):  # fmt: skip
            with pytest.raises(UserError, match=problem):
                add_records(records, tmp_path / name)
    assert content(mine) == [("model_1", "OK", 1.0)]
