"""Tests of intervals and of the certainty of the order: on the board's tasks, and on other tasks."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from board_examples import (
    GAPS,
    MEASURE,
    Known,
    board_of,
    by_name,
    compare,
    in_csv,
    in_json,
    over_tasks,
    references,
    rows,
)
from scipy.stats import wilcoxon

from harness.board.across_tasks import across_tasks, pairs_across_tasks
from harness.board.board import Board
from harness.board.rankings import FEW_TASKS_NOTE, OTHER_TASKS_NOTE, held_out_sets
from scoring import (
    HeldOut,
    TaskCalls,
    compare_mean_ranks,
    compare_submissions,
    difference_on_other_tasks,
    mean_on_other_tasks,
)

CLOSE = [gap + 0.001 for gap in GAPS]


def board(single: Known, withheld: Sequence[str] = (), **arguments: Any) -> Board:
    evaluations = [*rows("best", CLOSE), *rows("weak"), *rows("outside", GAPS, sandbox="none")]
    return board_of([*evaluations, *rows("half", MEASURE[:7])], single, withheld, **arguments)


def test_standings_are_those_among_the_rows_that_rank_and_hold_score_and_rank(single: Known) -> None:
    (reference,) = single.values()
    named = {
        name: {"toy": TaskCalls(reference.grid, reference.gaps, dict(zip(reference.models, values, strict=True)))}
        for name, values in (("best", CLOSE), ("weak", MEASURE))
    }
    found = by_name(board(single))
    assert {name: row.standing for name, row in found.items()} == {
        **compare_submissions(named).standings, "outside": None, "half": None,
    }  # fmt: skip
    for row in (found["best"], found["weak"]):
        assert row.standing.low <= row.standing.score <= row.standing.high
        assert row.standing.score == pytest.approx(row.score)
        assert row.standing.best_rank <= row.rank <= row.standing.worst_rank


def test_test_sets_tell_the_part_of_the_error_that_is_due_to_them(single: Known) -> None:
    """Test sets are known if the number of test samples is known for every task."""
    without, given = (by_name(board(single, held_out=sets)) for sets in (None, {"toy": HeldOut([0.5] * 8, 100)}))
    for name in ("best", "weak"):
        one, other = without[name].standing, given[name].standing
        assert (one.gap_error, other.error) == (None, one.error)
    assert 0 < given["weak"].standing.gap_error <= given["weak"].standing.error
    assert held_out_sets(single, {"toy": 100}) == {"toy": HeldOut([0.0] * 8, 100)}
    assert held_out_sets(single, {"toy": None}) is held_out_sets(single, {}) is None


def test_nothing_is_said_of_a_hidden_task(single: Known) -> None:
    found = board(single, withheld=["toy"])
    assert "interval" not in found.headings
    assert {row.standing for row in found.rows} == {row["standing"] for row in in_json(found).values()} == {None}
    assert {line["low"] for line in in_csv(found).values()} == {""}


COMPARED = ["best", "fair", "weak"]


def made(directory: Path, n_tasks: int, withheld: Sequence[str] = ()) -> tuple[Board, np.ndarray]:
    """Return the board of `over_tasks`, and its scores: a row for each task, and a column for each of COMPARED."""
    names = [f"task{number}" for number in range(n_tasks)]
    found = board_of(over_tasks(*names), references(directory, *names), withheld)
    rows = by_name(found)
    return found, np.array([[rows[name].tasks[task].official for name in COMPARED] for task in found.tasks])


def test_the_interval_on_other_tasks_covers_that_of_new_trainings(tmp_path: Path) -> None:
    found, scores = made(tmp_path, 4)
    cells = {row.submission: dict(zip(found.headings, found.cells(row), strict=True)) for row in found.rows}
    for name, (tasks_low, tasks_high) in zip(COMPARED, mean_on_other_tasks(scores), strict=True):
        standing = by_name(found)[name].standing
        low, high = min(tasks_low, standing.low), max(tasks_high, standing.high)
        assert (standing.tasks_low, standing.tasks_high) == pytest.approx((low, high))
        assert cells[name]["other tasks"] == f"{low:.1f}-{high:.1f}"
    assert cells["half"]["other tasks"] == "-"
    assert (OTHER_TASKS_NOTE in found.notes, FEW_TASKS_NOTE in found.notes) == (True, False)


def test_three_tasks_are_too_few(tmp_path: Path) -> None:
    found, _ = made(tmp_path, 3)
    assert "other tasks" not in found.headings
    assert found.notes.count(FEW_TASKS_NOTE) == 1
    assert (OTHER_TASKS_NOTE in found.notes, across_tasks(found), pairs_across_tasks(found, 0)) == (False, None, {})


def test_hidden_tasks_and_empty_boards_say_nothing(tmp_path: Path) -> None:
    for found in (made(tmp_path, 6, ["task5"])[0], board_of([], {})):
        assert not {FEW_TASKS_NOTE, OTHER_TASKS_NOTE} & set(found.notes)
        assert "other tasks" not in found.headings
        assert found.content["across_tasks"] is None
        assert all(pairs_across_tasks(found, number) == {} for number in range(len(found.rows)))


def test_mean_ranks_for_programs(tmp_path: Path) -> None:
    found, scores = made(tmp_path, 6)
    expected, content = compare_mean_ranks(scores), found.content["across_tasks"]
    assert content["tasks"] == 6
    assert content["friedman_p_value"] == pytest.approx(expected.p_value)
    assert content["critical_difference"] == pytest.approx(expected.critical_difference)
    ranks = dict(zip(COMPARED, expected.mean_ranks, strict=True))
    assert {line["submission"]: line["mean_rank"] for line in content["rows"]} == ranks
    assert content["rows"][0] == {"row": 0, "submission": "best", "mean_rank": min(expected.mean_ranks)}
    assert all(found.rows[line["row"]].submission == line["submission"] for line in content["rows"])
    assert [(group["first"], group["last"]) for group in content["groups"]] == [*expected.groups]


@pytest.mark.rest
@pytest.mark.parametrize("n_tasks", [5, 6])
def test_every_two_rows(tmp_path: Path, n_tasks: int) -> None:
    found, scores = made(tmp_path, n_tasks)
    number = {row.submission: number for number, row in enumerate(found.rows)}
    pairs, differences = pairs_across_tasks(found, number["best"]), scores[:, :1] - scores
    assert set(pairs) == {number[name] for name in COMPARED}
    pair = pairs[number["fair"]]
    assert (pair.low, pair.high) == pytest.approx(tuple(difference_on_other_tasks(differences)[1]))
    assert pair.p_value == pytest.approx(wilcoxon(differences[:, 1]).pvalue if n_tasks == 6 else None)
    assert pairs_across_tasks(found, number["half"]) == {}


def test_a_comparison_of_measures_has_the_interval(tmp_path: Path) -> None:
    names = [f"task{number}" for number in range(4)]
    known = references(tmp_path, *names)
    found = compare(over_tasks(*names), known, dict.fromkeys(COMPARED, "size"))
    assert "other tasks" in found.headings
    assert found.notes[-1] == OTHER_TASKS_NOTE
    fair = found.content[1]
    assert fair["tasks_low"] < fair["score"] < fair["tasks_high"]
