"""The board as Markdown, CSV and JSON: the same rows, the rule beside them."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from board_examples import GAPS, MEASURE, OFFICIAL, failed, references, rows

from harness.board.collect import collect
from harness.board.formats import cells, headings, notes, to_csv, to_json, to_markdown
from harness.board.leaderboard import Row, build_board
from harness.sandbox.outcome import Outcome
from scoring import RULE

TASKS = ["second", "toy"]


@pytest.fixture(scope="module")
def board(tmp_path_factory: pytest.TempPathFactory) -> list[Row]:
    """A winner, a baseline, one with a failed task, one without a value, one outside the sandbox, the oracle."""
    known = references(tmp_path_factory.mktemp("reference"), *TASKS)
    evaluations = [
        *(row for task in TASKS for row in rows("winner", GAPS, task)),
        *(row for task in TASKS for row in rows("path_norm", MEASURE, task, is_baseline=True)),
        *rows("half", MEASURE),
        *(failed("broken", model, Outcome.CRASH) for model in ("model_0", "model_1")),
        *(row for task in TASKS for row in rows("bold", GAPS, task, sandbox="none")),
    ]
    return build_board(collect(evaluations, known), known)


def test_cells_are_what_a_reader_sees(board: list[Row]) -> None:
    assert headings(TASKS) == ["rank", "submission", "", "score", "second", "toy", "s/model", "calls"]
    shown = {row.submission: cells(row, TASKS) for row in board}
    assert shown["winner"] == ["1", "winner", "", "100.00", "100.00", "100.00", "1.50", "16/16"]
    assert shown["path_norm"] == ["3", "path_norm", "baseline", "29.54", "29.54", "29.54", "1.50", "16/16"]
    assert shown["half"] == ["4", "half", "", "29.54", "failed", "29.54", "1.50", "8/16"]
    assert shown["broken"] == ["5", "broken", "", "-", "failed", "failed", "1.50", "0/16"]
    assert shown["bold"] == ["-", "bold", "not sandboxed", "100.00", "100.00", "100.00", "1.50", "16/16"]
    assert shown["noisy_oracle"][2] == "oracle"
    assert shown["noisy_oracle"][-2:] == ["-", "16/16"]


def test_a_baseline_outside_the_sandbox_is_marked_as_both(tmp_path: Path) -> None:
    known = references(tmp_path)
    found = build_board(collect(rows("path_norm", is_baseline=True, sandbox="none"), known), known)
    assert cells(found[-1], ["toy"])[:3] == ["-", "path_norm", "baseline not sandboxed"]


def test_what_a_reader_must_know_stands_below(board: list[Row]) -> None:
    assert notes(board)[0] == RULE
    assert any("no submission" in note for note in notes(board))
    assert any("--unsafe-no-sandbox" in note for note in notes(board))
    assert not any("--unsafe-no-sandbox" in note for note in notes([row for row in board if row.sandboxed]))


def test_markdown(board: list[Row]) -> None:
    lines = to_markdown(board, TASKS).splitlines()
    assert lines[0] == "# Leaderboard"
    table = [line for line in lines if line.startswith("|")]
    assert table[0] == "| rank | submission |  | score | second | toy | s/model | calls |"
    assert set(table[1]) == {"|", " ", "-"}
    assert table[3] == "| 1 | winner |  | 100.00 | 100.00 | 100.00 | 1.50 | 16/16 |"
    assert len(table) == 2 + len(board)
    assert RULE in to_markdown(board, TASKS)


def test_a_bar_in_the_name_of_a_task_does_not_break_the_markdown(tmp_path: Path) -> None:
    known = references(tmp_path, "a|b")
    text = to_markdown(build_board([], known), ["a|b"])
    assert "| a\\|b |" in text


def test_csv_has_all_digits(board: list[Row]) -> None:
    found = {row["submission"]: row for row in csv.DictReader(io.StringIO(to_csv(board, TASKS)))}
    assert list(found) == [row.submission for row in board]
    assert float(found["path_norm"]["toy"]) == pytest.approx(OFFICIAL, rel=0, abs=1e-12)
    assert found["path_norm"]["toy"] == repr(board[2].result.tasks["toy"].official)  # type: ignore[union-attr]
    assert (found["half"]["second"], found["broken"]["score"], found["bold"]["rank"]) == ("", "", "")
    assert (found["bold"]["sandboxed"], found["winner"]["sandboxed"]) == ("False", "True")
    assert [row["kind"] for row in found.values()].count("baseline") == 1


def test_json_has_everything(board: list[Row]) -> None:
    content = json.loads(to_json(board), parse_constant=lambda constant: pytest.fail(f"{constant} is no JSON"))
    assert content["rule"] == RULE
    found: dict[str, Any] = {row["submission"]: row for row in content["rows"]}
    assert list(found) == [row.submission for row in board]
    assert found["path_norm"]["score"] == board[2].result.score
    assert found["half"]["tasks"]["second"] == {
        "failed": "8 of 8 calls gave no value (model_0: missing, model_1: missing, model_2: missing, ...)"
    }
    toy = found["path_norm"]["tasks"]["toy"]
    assert toy["official"] == min(toy["official_pairs"].values())
    assert set(toy["official_pairs"]) == {"axis_a x axis_b", "axis_a x axis_c", "axis_b x axis_c"}
    assert toy["printed"] == min(toy["printed_subsets"].values())
    assert {"none", "axis_a", "axis_a x axis_b"} <= set(toy["printed_subsets"])
    assert found["broken"]["score"] is None
    assert found["winner"]["seconds_per_model"] == 1.5


def test_a_measure_that_is_always_the_same_has_numbers_all_the_same(tmp_path: Path) -> None:
    known = references(tmp_path)
    found = json.loads(to_json(build_board(collect(rows("constant", [1.0] * 8), known), known)))
    (constant,) = (row for row in found["rows"] if row["submission"] == "constant")
    assert (constant["score"], constant["tasks"]["toy"]["kendall"]) == (0.0, 0.0)
