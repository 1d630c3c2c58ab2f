"""Tests of `pgdl results`, which shows records to people and programs."""

import csv
import io
import json
import os
import subprocess
import sys
from pathlib import Path
from unittest.mock import Mock

import pytest
from in_process import Pgdl, Record
from pyarrow import parquet

from harness.api.records import remove_results
from harness.errors import UserError
from harness.outcome import Outcome
from harness.records import EVALUATIONS, Records
from tests.board.board_examples import failed, rows, write_reference

ROOT = Path(__file__).parents[2]

COLUMNS = [column.name for column in EVALUATIONS.columns]


@pytest.fixture(autouse=True)
def results(record: Record) -> None:
    crashed = failed("mine", "model_8", Outcome.CRASH, message="was ended by signal 9", output_tail="=cmd()\nbye\n")
    record([*rows("mine", output_tail="hello\n"), crashed, *rows("other", task="second", environment={"gpu": "none"})])


def test_a_row_per_call(pgdl: Pgdl) -> None:
    ended = pgdl("results")
    lines = ended.out.splitlines()
    assert (ended.code, len(lines)) == (0, 1 + 17)
    assert lines[0].split() == [
        "submission", "version", "task", "model", "outcome", "value", "seconds", "MiB", "message",
    ]  # fmt: skip
    assert lines[1].split() == ["mine", "d1", "toy", "model_0", "OK", "3", "1.50", "668"]
    assert lines[9].split()[4:] == ["CRASH", "-", "1.50", "668", "was", "ended", "by", "signal", "9"]


def test_what_is_asked_for(pgdl: Pgdl, record: Record) -> None:
    """A call that was made again has its last outcome."""

    def numbers(*asked: str) -> list[int]:
        return [len(pgdl("results", *one.split(), "--format", "json").lines) for one in asked]

    both = "--submission mine --submission other"
    assert numbers("--submission mine", both, "--task second", "--outcome crash") == [9, 17, 8, 1]
    assert numbers("--outcome OK --task toy", "--outcome TIMEOUT") == [8, 0]
    record([failed("mine", "model_0", Outcome.TIMEOUT)])
    assert numbers("--outcome OK --task toy", "--outcome TIMEOUT") == [7, 1]


def test_csv_and_json_have_every_column_and_csv_no_formula(pgdl: Pgdl) -> None:
    found = list(csv.DictReader(io.StringIO(pgdl("results", "--submission", "mine", "--format", "csv").out)))
    assert list(found[0]) == COLUMNS
    assert (found[0]["value"], found[0]["output_tail"], found[0]["environment"]) == ("3.0", "hello\n", "{}")
    assert (found[8]["value"], found[8]["output_tail"]) == ("", "'=cmd()\nbye\n")
    assert found[0]["started_at"] == "2026-01-01T12:00:00+00:00"
    found = [json.loads(line) for line in pgdl("results", "--format", "json").out.splitlines()]
    assert list(found[0]) == COLUMNS
    assert (found[8]["value"], found[8]["output_tail"]) == (None, "=cmd()\nbye\n")
    assert found[9]["environment"] == {"gpu": "none"}


@pytest.mark.rest
def test_parquet_has_the_columns_own_types() -> None:
    command = [sys.executable, "-m", "pgdl", "results", "--format", "parquet"]
    written = subprocess.run(command, stdout=subprocess.PIPE, env=os.environ | {"PYTHONPATH": str(ROOT)}, check=True)
    table = parquet.read_table(io.BytesIO(written.stdout))
    assert table.column_names == COLUMNS
    assert {name: str(table.schema.field(name).type) for name in ("value", "seed", "is_baseline", "started_at")} == {
        "value": "double", "seed": "int64", "is_baseline": "bool", "started_at": "timestamp[us, tz=UTC]",
    }  # fmt: skip
    assert table["value"].to_pylist()[8] is None
    assert json.loads(table["environment"][9].as_py()) == {"gpu": "none"}


def test_a_submission_is_removed_and_can_be_had_back(
    pgdl: Pgdl, folder: Path, record: Record, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin.isatty", lambda: False)
    record([failed("mine", "model_0", Outcome.TIMEOUT)])  # a newer record of the same call
    asked = pgdl("results", "--remove", "mine")
    assert (asked.code, "add --yes" in asked.err) == (2, True)
    assert "Remove 10 records (10 on toy) and 0 requests of 'mine' from results.db?" in asked.err
    assert not (folder / "removed_mine.db").exists()

    before = _calls(pgdl)
    removed = pgdl("results", "--remove", "mine", "--yes")
    assert (removed.code, removed.err) == (0, "Removed; a copy is in removed_mine.db\n")
    left, copy = _calls(pgdl), _calls(pgdl, "--results", "removed_mine.db")
    assert (left | copy, left & copy) == (before, set())
    assert {name for name, *_ in copy} == {"mine"}
    assert "no records of 'mine'" in pgdl("results", "--remove", "mine", "--yes").err
    for option in (("--task", "tiny"), ("--tasks", "."), ("--withhold", "always")):
        assert f"found {option[0]}; leave it out" in pgdl("results", "--remove", "mine", *option).refusal()


def test_an_incomplete_copy_of_removed_records_is_deleted(
    pgdl: Pgdl, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = _calls(pgdl)
    monkeypatch.setattr(Records, "ask", Mock(side_effect=UserError("disk is full")))
    assert pgdl("results", "--remove", "mine", "--yes").err == "pgdl: disk is full\n"
    assert (_calls(pgdl), list(folder.glob("removed_*"))) == (before, [])


def test_two_removals_at_once_leave_one_copy(folder: Path) -> None:
    def remove_meanwhile(_: str) -> bool:
        return remove_results("mine", "results.db") is not None

    with pytest.raises(UserError, match=r"removed_mine\.db: cannot be written: File exists"):
        remove_results("mine", "results.db", confirm=remove_meanwhile)
    with Records("removed_mine.db", read_only=True) as copy:
        assert len(copy.all_of("mine")[0]) == 9
    assert list(folder.glob("removed_*")) == [folder / "removed_mine.db"]


def _calls(pgdl: Pgdl, *arguments: str) -> set[tuple[str, str, str, str]]:
    lines = map(json.loads, pgdl("results", "--format", "json", *arguments).out.splitlines())
    return {(line["submission"], line["task"], line["model"], line["outcome"]) for line in lines}


def test_repetitions_are_told_apart_and_the_score_says_how_much_is_luck(
    pgdl: Pgdl, folder: Path, record: Record
) -> None:
    """A failed repetition is named, and changes no score."""
    write_reference(folder / "task_data")
    again = [3.5, 2.0, 0.5, 1.0, 5.0, 7.0, 2.0, 8.0]
    record([*rows("lucky"), *rows("lucky", again, repeat=1), *rows("calm")])
    ended = pgdl("score", "lucky")
    line = "toy: own randomness: ±10.7 points; 5 of 8 models called again gave another value"
    assert (ended.code, ended.lines[0], line in ended.lines) == (0, "lucky: score 29.5418", True)
    found = json.loads(pgdl("score", "lucky", "--format", "json").out)["own_randomness"]
    error = found["error"]
    assert found == {"error": error, "tasks": {"toy": {"error": error, "models": 8, "unsteady": 5}}}
    assert (f"{error:.1f}", len(str(error)) > 8) == ("10.7", True)
    assert "own randomness" not in pgdl("score", "calm").out
    assert "own_randomness" not in json.loads(pgdl("score", "calm", "--format", "json").out)
    lines = pgdl("results", "--submission", "lucky").lines
    assert [sum(text in line for line in lines) for text in ("model_3, repetition 1", "repetition")] == [1, 8]
    assert [json.loads(line)["repeat"] for line in pgdl("results", "--format", "json").lines].count(1) == 8
    record([failed("lucky", "model_5", Outcome.TIMEOUT, repeat=2)])
    for command in ("score", "board"):
        assert "lucky on toy: failed repetitions, which affect no score: 1 TIMEOUT, on model_5" in pgdl(command).lines
    assert pgdl("score", "lucky").out.startswith("lucky: score 29.5418\n")
