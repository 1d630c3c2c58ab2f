"""Repetitions in the output of `pgdl score`, `board`, `results` and `run`."""

import json
from pathlib import Path

import pytest
from in_process import Pgdl, Record

from tests.board.board_examples import rows, write_reference

pytestmark = pytest.mark.rest

SECOND = [3.5, 2.0, 0.5, 1.0, 5.0, 7.0, 2.0, 8.0]
LINE = "toy: own randomness: ±10.7 points; 5 of 8 models called again gave another value"


@pytest.fixture
def reference(folder: Path, record: Record) -> Path:
    """Records of a submission with one repetition, and of one without."""
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
def test_the_table_of_results_tells_repetitions_apart(pgdl: Pgdl) -> None:
    lines = pgdl("results", "--submission", "mine").out.splitlines()
    assert sum("model_3, repetition 1" in line for line in lines) == 1
    assert sum("repetition" in line for line in lines) == 8
    found = [json.loads(line)["repeat"] for line in pgdl("results", "--format", "json").out.splitlines()]
    assert found.count(1) == 8
