"""Statements of a board about other tasks, which depend on the number of its tasks."""

import json
from pathlib import Path

import numpy as np
import pytest
from board_examples import collect, compare, over_tasks, references
from scipy.stats import wilcoxon

from harness.board.across_tasks import across_tasks, pairs_across_tasks
from harness.board.board import Board
from harness.board.formats import json as json_format
from harness.board.leaderboard import build_board
from harness.board.rankings import FEW_TASKS_NOTE, OTHER_TASKS_NOTE
from scoring import compare_mean_ranks, difference_on_other_tasks, mean_on_other_tasks

COMPARED = ["best", "fair", "weak"]


def board(directory: Path, n_tasks: int, **arguments: object) -> Board:
    names = [f"task{number}" for number in range(n_tasks)]
    known = references(directory, *names)
    return build_board(collect(over_tasks(*names), known), known, **arguments)  # type: ignore[arg-type]


def scores_of(found: Board) -> np.ndarray:
    by_name = {row.submission: row for row in found.rows}
    return np.array([[by_name[name].tasks[task].official for name in COMPARED] for task in found.tasks])


def test_the_interval_on_other_tasks_covers_that_of_new_trainings(tmp_path: Path) -> None:
    found = board(tmp_path, 4)
    cells = {row.submission: dict(zip(found.headings, found.cells(row), strict=True)) for row in found.rows}
    standings = {row.submission: row.standing for row in found.rows}
    for name, (tasks_low, tasks_high) in zip(COMPARED, mean_on_other_tasks(scores_of(found)), strict=True):
        standing = standings[name]
        assert standing is not None
        low, high = min(tasks_low, standing.low), max(tasks_high, standing.high)
        assert (standing.tasks_low, standing.tasks_high) == pytest.approx((low, high))
        assert cells[name]["other tasks"] == f"{low:.1f}-{high:.1f}"
    assert cells["half"]["other tasks"] == "-"
    assert OTHER_TASKS_NOTE in found.notes
    assert FEW_TASKS_NOTE not in found.notes


def test_three_tasks_are_too_few(tmp_path: Path) -> None:
    found = board(tmp_path, 3)
    assert "other tasks" not in found.headings
    assert found.notes.count(FEW_TASKS_NOTE) == 1
    assert (OTHER_TASKS_NOTE in found.notes, across_tasks(found), pairs_across_tasks(found, 0)) == (False, None, {})


def test_hidden_tasks_and_empty_boards_say_nothing(tmp_path: Path) -> None:
    for found in (board(tmp_path / "hidden", 6, withheld=["task5"]), build_board(collect([], {}), {})):
        assert not {FEW_TASKS_NOTE, OTHER_TASKS_NOTE} & set(found.notes)
        assert "other tasks" not in found.headings
        assert found.content["across_tasks"] is None
        assert all(pairs_across_tasks(found, number) == {} for number in range(len(found.rows)))


def test_mean_ranks_for_programs(tmp_path: Path) -> None:
    found = board(tmp_path, 6)
    expected = compare_mean_ranks(scores_of(found))
    content = json.loads(json_format.render(found))["across_tasks"]
    assert content["tasks"] == 6
    assert content["friedman_p_value"] == pytest.approx(expected.p_value)
    assert content["critical_difference"] == pytest.approx(expected.critical_difference)
    assert {line["submission"]: line["mean_rank"] for line in content["rows"]} == dict(
        zip(COMPARED, expected.mean_ranks, strict=True)
    )
    assert content["rows"][0] == {"row": 0, "submission": "best", "mean_rank": min(expected.mean_ranks)}
    assert [found.rows[line["row"]].submission for line in content["rows"]] == [
        line["submission"] for line in content["rows"]
    ]
    assert [(group["first"], group["last"]) for group in content["groups"]] == [*expected.groups]


@pytest.mark.rest
@pytest.mark.parametrize("n_tasks", [5, 6])
def test_every_two_rows(tmp_path: Path, n_tasks: int) -> None:
    found = board(tmp_path, n_tasks)
    number = {row.submission: number for number, row in enumerate(found.rows)}
    pairs = pairs_across_tasks(found, number["best"])
    differences = scores_of(found)[:, :1] - scores_of(found)
    (low, high) = difference_on_other_tasks(differences)[1]
    assert set(pairs) == {number[name] for name in COMPARED}
    pair = pairs[number["fair"]]
    assert (pair.low, pair.high) == pytest.approx((low, high))
    expected = wilcoxon(differences[:, 1]).pvalue if n_tasks == 6 else None
    assert pair.p_value == pytest.approx(expected)
    assert pairs_across_tasks(found, number["half"]) == {}


def test_a_comparison_of_measures_has_the_interval(tmp_path: Path) -> None:
    names = [f"task{number}" for number in range(4)]
    known = references(tmp_path, *names)
    found = compare(over_tasks(*names), known, dict.fromkeys(COMPARED, "size"))
    assert "other tasks" in found.headings
    assert found.notes[-1] == OTHER_TASKS_NOTE
    fair = found.content[1]
    assert fair["tasks_low"] < fair["score"] < fair["tasks_high"]
