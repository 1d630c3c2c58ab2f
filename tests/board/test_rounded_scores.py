"""Tests of rounded scores on hidden tasks: they decide ranks, and no unrounded number is published."""

from itertools import count
from typing import Any

import pytest
from board_examples import MEASURE, Known, board_of, by_name, collect, failed, in_csv, in_json, rows

from harness.board.disclosure import REASON_WITHHELD, rounded, rounded_task
from harness.board.formats import find
from harness.board.leaderboard import score_calls
from harness.outcome import Outcome
from scoring import SubmissionScore, TaskScore

TASKS, HIDDEN = ["second", "toy"], ["second"]


def test_numbers_on_hidden_tasks_are_rounded_without_their_parts_and_open_tasks_keep_their_digits(known: Known) -> None:
    mine = rows("mine", MEASURE, TASKS)
    row, exact = (by_name(board_of(mine, known, withheld))["mine"] for withheld in (HIDDEN, []))
    task, whole = row.result.tasks["second"], exact.result.tasks["second"]
    assert (task.official, task.official_pairs, task.printed_subsets, task.granulated_psi) == (0.295, {}, {}, {})
    assert task.official == round(whole.official, 3) != whole.official
    assert (task.printed, task.kendall, task.granulated_kendall) == (None, None, None)
    assert (row.result.score, row.rounded, exact.rounded) == (29.5, ("second",), ())
    assert exact.result.score != 29.5
    assert row.result.tasks["toy"] == exact.result.tasks["toy"]


def test_the_final_score_is_computed_from_rounded_scores_only(known: Known) -> None:
    """The exact final score would reveal more than the rounded scores."""
    score = score_calls(collect(rows("mine", MEASURE, TASKS), known).shown[0], known)
    officials = zip(score.tasks.items(), (0.0, 0.29951), strict=True)
    tasks = {name: _with_official(task, official) for (name, task), official in officials}
    assert rounded(SubmissionScore(14.9755, tasks, True, False), TASKS).score == pytest.approx(100 * 0.300 / 2)


def _with_official(task: Any, official: float) -> TaskScore:
    return TaskScore(**(vars(task) | {"official": official}))


def test_why_nobody_has_a_score_is_not_said_since_it_names_hyperparameters(known: Known) -> None:
    task = score_calls(collect(rows("mine", MEASURE, TASKS), known).shown[0], known).tasks["second"]
    undefined = TaskScore(**(vars(task) | {"official": None, "undefined": "found no model in cell (secret=1)"}))
    assert rounded_task(undefined) == rounded_task(TaskScore(**(vars(undefined) | {"undefined": REASON_WITHHELD})))
    assert rounded_task(undefined).undefined == REASON_WITHHELD


def test_equal_rounded_scores_share_a_rank_and_stand_by_name(known: Known, monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = count()
    everybody = [row for name in ("c", "a", "b") for row in rows(name, MEASURE, TASKS)]
    exact = score_calls(collect(everybody, known).shown[0], known)

    def nearly(*_: object) -> SubmissionScore:
        task = _with_official(exact.tasks["second"], 0.29501 + next(numbers) * 1e-4)
        return SubmissionScore(100 * task.official, {"second": task}, True, False)

    monkeypatch.setattr("harness.board.leaderboard.score_calls", nearly)
    alone = {"second": known["second"]}
    found = board_of(everybody, alone, HIDDEN).rows
    assert [(row.rank, row.submission) for row in found] == [(1, "a"), (1, "b"), (1, "c")]
    assert [*by_name(board_of(everybody, alone))] == ["c", "b", "a"]


def test_reasons_say_neither_which_model_failed_nor_how(known: Known) -> None:
    broken = [*rows("mine", MEASURE, TASKS), failed("mine", "model_4", Outcome.CRASH, task="second")]
    late = [*rows("late", MEASURE, TASKS), failed("late", "model_4", Outcome.TIMEOUT, task="second")]
    board = board_of([*broken, *late], known, HIDDEN)
    found = by_name(board)
    assert [found[name].result.tasks["second"] for name in ("mine", "late")] == [REASON_WITHHELD, REASON_WITHHELD]
    assert found["late"].result.score == 0.0
    assert "model_4" not in str(board.content)


def test_all_formats_show_the_rounded_numbers_and_say_so(known: Known) -> None:
    mine = rows("mine", MEASURE, TASKS)
    found = board_of(mine, known, HIDDEN)
    assert found.cells(by_name(found)["mine"])[3:6] == ["29.5", "29.5", "29.54"]
    assert found.notes[-1].startswith("hidden: second. Scores there, and final scores, are rounded to 1 decimal")
    assert found.notes[-1] in str(find("markdown").render(found))
    assert (in_csv(found)["mine"]["score"], in_csv(found)["mine"]["score:second"]) == ("29.5", "29.5")
    row = in_json(found)["mine"]
    assert (row["rounded"], row["tasks"]["second"]["official"]) == (["second"], 29.5)
    assert not any("hidden" in note for note in board_of(mine, known).notes)
    slow = rows("mine", MEASURE, "second", call_wall_s=123.456)
    for records, seconds in (([*slow, *rows("mine")], 1.5), (slow, None)):
        (row,) = board_of(records, known, HIDDEN).rows
        assert row.seconds_per_model == seconds, "times there do not count"
