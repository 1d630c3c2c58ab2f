"""Tests of intervals and of the certainty of the order: on the board's tasks, and on other tasks."""

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest
from board_examples import GAPS, MEASURE, collect, compare, over_tasks, references, rows
from scipy.stats import wilcoxon

from harness.board.across_tasks import across_tasks, pairs_across_tasks
from harness.board.board import Board
from harness.board.formats import csv as csv_format
from harness.board.formats import json as json_format
from harness.board.leaderboard import build_board
from harness.board.rankings import FEW_TASKS_NOTE, OTHER_TASKS_NOTE, held_out_sets
from harness.format.reference import Reference
from scoring import (
    HeldOut,
    TaskCalls,
    compare_mean_ranks,
    compare_submissions,
    difference_on_other_tasks,
    mean_on_other_tasks,
)

CLOSE = [gap + 0.001 for gap in GAPS]


@pytest.fixture
def single(tmp_path: Path) -> dict[str, Reference]:
    return references(tmp_path)


def board(single: dict[str, Reference], **arguments: object) -> Board:
    evaluations = [*rows("best", CLOSE), *rows("weak"), *rows("outside", GAPS, sandbox="none")]
    return build_board(collect([*evaluations, *rows("half", MEASURE[:7])], single), single, **arguments)  # type: ignore[arg-type]


def test_standings_are_those_among_the_rows_that_rank(single: dict[str, Reference]) -> None:
    (reference,) = single.values()
    named = {
        "best": TaskCalls(reference.grid, reference.gaps, dict(zip(reference.models, CLOSE, strict=True))),
        "weak": TaskCalls(reference.grid, reference.gaps, dict(zip(reference.models, MEASURE, strict=True))),
    }
    expected = compare_submissions({name: {"toy": calls} for name, calls in named.items()}).standings
    found = {row.submission: row.standing for row in board(single).rows}
    assert found == {**expected, "outside": None, "half": None}


def test_a_standing_holds_the_score_and_the_rank_of_its_row(single: dict[str, Reference]) -> None:
    ranked = [(row, row.standing) for row in board(single).rows if row.standing is not None]
    assert [row.submission for row, _ in ranked] == ["best", "weak"]
    for row, standing in ranked:
        assert row.rank is not None
        assert standing.low <= standing.score <= standing.high
        assert standing.score == pytest.approx(row.score)
        assert standing.best_rank <= row.rank <= standing.worst_rank


def test_test_sets_tell_the_part_of_the_error_that_is_due_to_them(single: dict[str, Reference]) -> None:
    sets = {"toy": HeldOut([0.5] * 8, 100)}
    without, given = board(single), board(single, held_out=sets)
    for one, other in zip(without.rows, given.rows, strict=True):
        if one.standing is not None and other.standing is not None:
            assert one.standing.gap_error is None
            assert other.standing.error == one.standing.error
    weak = next(row.standing for row in given.rows if row.submission == "weak")
    assert weak is not None
    assert weak.gap_error is not None
    assert 0 < weak.gap_error <= weak.error


def test_test_sets_are_known_if_the_number_of_samples_of_every_task_is(single: dict[str, Reference]) -> None:
    assert held_out_sets(single, {"toy": 100}) == {"toy": HeldOut([0.0] * 8, 100)}
    assert held_out_sets(single, {"toy": None}) is held_out_sets(single, {}) is None


def test_nothing_is_said_of_a_hidden_task(single: dict[str, Reference]) -> None:
    found = board(single, withheld=["toy"])
    assert [row.standing for row in found.rows] == [None] * len(found.rows)
    assert "interval" not in found.headings
    lines = list(csv.DictReader(io.StringIO(csv_format.render(found))))
    assert {line["low"] for line in lines} == {""}
    assert {row["standing"] for row in json.loads(json_format.render(found))["rows"]} == {None}


COMPARED = ["best", "fair", "weak"]


def board_of(directory: Path, n_tasks: int, **arguments: object) -> Board:
    names = [f"task{number}" for number in range(n_tasks)]
    known = references(directory, *names)
    return build_board(collect(over_tasks(*names), known), known, **arguments)  # type: ignore[arg-type]


def scores_of(found: Board) -> np.ndarray:
    by_name = {row.submission: row for row in found.rows}
    return np.array([[by_name[name].tasks[task].official for name in COMPARED] for task in found.tasks])


def test_the_interval_on_other_tasks_covers_that_of_new_trainings(tmp_path: Path) -> None:
    found = board_of(tmp_path, 4)
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
    found = board_of(tmp_path, 3)
    assert "other tasks" not in found.headings
    assert found.notes.count(FEW_TASKS_NOTE) == 1
    assert (OTHER_TASKS_NOTE in found.notes, across_tasks(found), pairs_across_tasks(found, 0)) == (False, None, {})


def test_hidden_tasks_and_empty_boards_say_nothing(tmp_path: Path) -> None:
    for found in (board_of(tmp_path / "hidden", 6, withheld=["task5"]), build_board(collect([], {}), {})):
        assert not {FEW_TASKS_NOTE, OTHER_TASKS_NOTE} & set(found.notes)
        assert "other tasks" not in found.headings
        assert found.content["across_tasks"] is None
        assert all(pairs_across_tasks(found, number) == {} for number in range(len(found.rows)))


def test_mean_ranks_for_programs(tmp_path: Path) -> None:
    found = board_of(tmp_path, 6)
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
    found = board_of(tmp_path, n_tasks)
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
