"""Content for programs and pages beside the numbers: keys of JSON files, labels of rows, and faint rows."""

from pathlib import Path

import pytest
from board_examples import GAPS, MEASURE, collect, compare, references, rows

from harness.board.board import Board
from harness.board.collect import Calls
from harness.board.leaderboard import build_board
from harness.board.remarks import settings_labels
from harness.format.reference import Reference


@pytest.fixture
def known(tmp_path: Path) -> dict[str, Reference]:
    return references(tmp_path)


@pytest.fixture
def board(known: dict[str, Reference]) -> Board:
    records = [*rows("mine"), *rows("theirs", GAPS, is_baseline=True), *rows("bold", GAPS, sandbox="none")]
    return build_board(collect(records, known), known)


def test_keys_of_the_leaderboard(board: Board) -> None:
    content = board.content
    assert content.keys() == {"rule", "remarks", "oracle", "hyperparameters", "across_tasks", "rows"}
    for row in content["rows"]:
        assert row.keys() == {
            "rank", "submission", "kind", "calls_ok", "calls_expected", "seconds_per_model", "sandboxed", "version",
            "requested_at", "configuration", "runtime", "settings", "stale", "chance", "excess", "excess_low",
            "excess_high", "p_value", "adjusted_p_value",
            "beyond_hyperparameters", "rounded", "standing", "own_randomness", "score", "team", "description", "paper",
            "complete", "exceeded", "tasks",
        }  # fmt: skip
        assert row["configuration"].keys() >= {"id", "run_seed", "runtime", "isolation"}
        assert row["tasks"]["toy"].keys() == {
            "official", "printed", "kendall", "granulated_kendall", "n_models", "official_pairs", "printed_subsets",
            "granulated_psi", "undefined", "chance", "p_value", "adjusted_p_value",
        }  # fmt: skip


def test_keys_of_a_comparison(known: dict[str, Reference]) -> None:
    (row,) = compare(rows("vc_dim", MEASURE), known, {"vc_dim": "size"}).content
    assert row.keys() == {
        "rank", "measure", "family", "score", "low", "high", "tasks_low", "tasks_high", "chance", "excess",
        "excess_low", "excess_high", "p_value", "adjusted_p_value", "beyond_hyperparameters", "kendall",
        "seconds_per_model", "complete", "sandboxed", "tasks",
    }  # fmt: skip
    (line,) = row["tasks"]
    assert line.keys() == {
        "measure", "family", "beyond_hyperparameters", "task", "score", "chance", "p_value", "printed", "kendall",
        "granulated_kendall", "seconds_per_model", "models", "failed", "outcomes", "reason",
    }  # fmt: skip


def test_only_sandboxed_submissions_are_not_faint(board: Board) -> None:
    assert {row.submission: board.is_faint(row) for row in board.rows} == {"mine": False, "theirs": True, "bold": True}


def test_rows_without_a_configuration_have_no_label() -> None:
    assert settings_labels([Calls("one", True, {}), Calls("other", True, {})]) == ["", ""]


def test_another_sandbox_than_that_of_most_rows_is_in_the_label(known: dict[str, Reference]) -> None:
    shown = collect([*rows("a"), *rows("b"), *rows("c", sandbox="landlock")], known).shown
    assert settings_labels(shown) == ["", "", "sandbox landlock"]
