"""Tests of repetitions in the output of `pgdl score`, `board`, `results` and `run`."""

import csv
import json
from pathlib import Path

import pytest
from in_process import Pgdl, Record

from harness.outcome import Outcome
from tests.board.board_examples import failed, rows, write_reference

pytestmark = pytest.mark.rest

SECOND = [3.5, 2.0, 0.5, 1.0, 5.0, 7.0, 2.0, 8.0]
LINE = "toy: own randomness: ±10.7 points; 5 of 8 models called again gave another value"


@pytest.fixture
def reference(folder: Path, record: Record) -> Path:
    """Record a submission with one repetition and a submission without; return the directory of reference data."""
    record([*rows("mine"), *rows("mine", SECOND, repeat=1), *rows("calm")])
    return write_reference(folder / "task_data")


@pytest.mark.usefixtures("reference")
def test_the_score_says_how_much_is_luck(pgdl: Pgdl) -> None:
    ended = pgdl("score", "mine")
    assert ended.code == 0
    assert ended.out.startswith("mine: score 29.5418\n")
    assert LINE in ended.out.splitlines()
    found = json.loads(pgdl("score", "mine", "--format", "json").out)["own_randomness"]
    error = found["error"]
    assert found == {"error": error, "tasks": {"toy": {"error": error, "models": 8, "unsteady": 5}}}
    assert (f"{error:.1f}", len(str(error)) > 8) == ("10.7", True)
    assert "own randomness" not in pgdl("score", "calm").out
    assert "own_randomness" not in json.loads(pgdl("score", "calm", "--format", "json").out)


@pytest.mark.usefixtures("reference")
@pytest.mark.parametrize("form", ["table", "markdown", "latex"])
def test_the_board_has_a_column(form: str, pgdl: Pgdl) -> None:
    (head, *_), (mine, *_) = (
        [line for line in pgdl("board", "--format", form).out.splitlines() if word in line]
        for word in ("own ±", "mine")
    )
    assert "submission" in head
    assert " 10.7 " in mine


def test_hidden_tasks_show_nothing_of_it(pgdl: Pgdl, reference: Path) -> None:
    (reference / "toy" / "metadata").write_text("hidden: true\n")
    for command in ("score", "board"):
        assert "own" not in pgdl(command).out.replace("shown", "").replace("unknown", "")
        assert "10.7" in pgdl(command, "--withhold", "never").out
    assert "own_randomness" not in pgdl("score", "--format", "json").out
    rows = json.loads(pgdl("board", "--format", "json").out)["rows"]
    assert [row["own_randomness"] for row in rows] == [None] * 2
    assert {row["own_error"] for row in csv.DictReader(pgdl("board", "--format", "csv").out.splitlines())} == {""}


def test_a_failed_repetition_is_named_and_changes_no_score(pgdl: Pgdl, reference: Path, record: Record) -> None:
    record([failed("mine", "model_5", Outcome.TIMEOUT, repeat=2)])
    for command in ("score", "board"):
        ended = pgdl(command)
        assert ended.code == 0
        said = "mine on toy: failed repetitions, which affect no score: 1 TIMEOUT, on model_5"
        assert said in ended.out.splitlines()
    assert pgdl("score", "mine").out.startswith("mine: score 29.5418\n")


@pytest.mark.usefixtures("reference")
def test_the_table_of_results_tells_repetitions_apart(pgdl: Pgdl) -> None:
    lines = pgdl("results", "--submission", "mine").out.splitlines()
    assert sum("model_3, repetition 1" in line for line in lines) == 1
    assert sum("repetition" in line for line in lines) == 8
    found = [json.loads(line)["repeat"] for line in pgdl("results", "--format", "json").out.splitlines()]
    assert found.count(1) == 8
