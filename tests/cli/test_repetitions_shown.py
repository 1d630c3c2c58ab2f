"""Tests of repetitions in the output of `pgdl score`, `board`, `results` and `run`."""

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
def test_the_score_says_how_much_is_luck_and_results_tell_repetitions_apart(pgdl: Pgdl) -> None:
    ended = pgdl("score", "mine")
    assert (ended.code, ended.lines[0], LINE in ended.lines) == (0, "mine: score 29.5418", True)
    found = json.loads(pgdl("score", "mine", "--format", "json").out)["own_randomness"]
    error = found["error"]
    assert found == {"error": error, "tasks": {"toy": {"error": error, "models": 8, "unsteady": 5}}}
    assert (f"{error:.1f}", len(str(error)) > 8) == ("10.7", True)
    assert "own randomness" not in pgdl("score", "calm").out
    assert "own_randomness" not in json.loads(pgdl("score", "calm", "--format", "json").out)
    lines = pgdl("results", "--submission", "mine").lines
    assert (sum("model_3, repetition 1" in line for line in lines), sum("repetition" in line for line in lines)) == (
        1,
        8,
    )
    assert [json.loads(line)["repeat"] for line in pgdl("results", "--format", "json").lines].count(1) == 8


@pytest.mark.usefixtures("reference")
def test_a_failed_repetition_is_named_and_changes_no_score(pgdl: Pgdl, record: Record) -> None:
    record([failed("mine", "model_5", Outcome.TIMEOUT, repeat=2)])
    for command in ("score", "board"):
        ended = pgdl(command)
        assert ended.code == 0
        assert "mine on toy: failed repetitions, which affect no score: 1 TIMEOUT, on model_5" in ended.lines
    assert pgdl("score", "mine").out.startswith("mine: score 29.5418\n")
