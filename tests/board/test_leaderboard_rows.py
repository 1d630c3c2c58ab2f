"""Tests of the leaderboard's rows: their order, rows without a rank, and the sentence on each row's state."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import hypothesis.strategies as st
import pytest
from board_examples import GAPS, MEASURE, MODELS, OFFICIAL, collect, failed, references, rows
from hypothesis import given, settings

from harness.board.disclosure import INTERVAL_WITHHELD, ONLY_ROUNDED
from harness.board.leaderboard import build_board
from harness.board.row import Row
from harness.board.states import state_of, state_on
from harness.format.reference import Reference
from harness.outcome import Outcome
from harness.records import Evaluation
from tests.records.evaluation_rows import request

SCALED = [3 * gap + 1 for gap in GAPS]
CONSTANT = [1.0] * 8


def both(submission: str, values: list[float], **columns: object) -> list[Evaluation]:
    """Return a submission's records on both tasks, `toy` and `second`."""
    return [row for task in ("toy", "second") for row in rows(submission, values, task, **columns)]


def board(evaluations: list[Evaluation], known: dict[str, Reference]) -> list[Row]:
    return list(build_board(collect(evaluations, known), known).rows)


def standing(found: Sequence[Row]) -> list[tuple[int | None, str]]:
    return [(row.rank, row.submission) for row in found]


def test_the_best_comes_first(known: dict[str, Reference]) -> None:
    found = board([*both("middling", MEASURE), *both("best", GAPS), *both("useless", CONSTANT)], known)
    assert [row.submission for row in found] == ["best", "middling", "useless"]
    assert [row.result.score for row in found] == pytest.approx([100.0, 100 * OFFICIAL, 0.0])


def test_equal_scores_share_a_rank_and_stand_by_name(known: dict[str, Reference]) -> None:
    everybody = [*both("b", GAPS), *both("a", SCALED), *both("c", MEASURE)]
    assert standing(board(everybody, known)) == [(1, "a"), (1, "b"), (3, "c")]


def test_baselines_are_ranked_and_marked(known: dict[str, Reference]) -> None:
    found = board([*both("path_norm", GAPS, is_baseline=True), *both("mine", MEASURE)], known)
    assert [(row.submission, row.kind) for row in found] == [("path_norm", "baseline"), ("mine", "submission")]
    assert found[0].rank == 1


def test_what_ran_without_a_sandbox_never_ranks(known: dict[str, Reference]) -> None:
    found = board([*both("bold", GAPS, sandbox="none"), *both("careful", CONSTANT)], known)
    assert [row.submission for row in found] == ["careful", "bold"]
    assert (found[1].rank, found[1].sandboxed) == (None, False)
    assert found[1].result.score == pytest.approx(100.0), "it is shown all the same"


def test_an_incomplete_submission_stands_below_every_complete_one(known: dict[str, Reference]) -> None:
    found = board([*rows("half", GAPS), *both("whole", CONSTANT)], known)
    assert [row.submission for row in found] == ["whole", "half"]
    assert (found[1].result.score, found[1].result.complete) == (pytest.approx(100.0), False)
    assert (found[1].calls_ok, found[1].calls_expected) == (8, 16)


@pytest.mark.parametrize("hidden", [[], ["flat"]])
def test_a_task_on_which_nobody_can_have_a_score_lowers_no_row(tmp_path: Path, hidden: list[str]) -> None:
    tasks = references(tmp_path, "flat", sizes=(4, 2)) | references(tmp_path, "toy")
    late = [*rows("late", GAPS), failed("late", "model_0", Outcome.TIMEOUT, "flat")]
    whole = [*rows("whole", CONSTANT), *rows("whole", CONSTANT, "flat")]
    found = build_board(collect([*late, *rows("half", MEASURE), *whole], tasks), tasks, hidden)
    assert standing(found.rows) == [(1, "late"), (2, "half"), (3, "whole")]
    assert all(row.complete and (hidden or row.standing) for row in found.rows)


def test_a_timeout_puts_a_submission_among_the_incomplete_with_a_score_of_0(known: dict[str, Reference]) -> None:
    late = [*both("late", GAPS), failed("late", "model_0", Outcome.TIMEOUT)]
    broken = [failed("broken", model, Outcome.CRASH) for model in MODELS]
    found = board([*late, *broken, *rows("half", MEASURE)], known)
    assert [row.submission for row in found] == ["half", "late", "broken"]
    assert [row.result.score for row in found] == [pytest.approx(100 * OFFICIAL), 0.0, None]


def test_a_message_of_some_failures_is_an_example(known: dict[str, Reference]) -> None:
    several = [failed("mine", model, Outcome.MEMORY, message=f"used {n} MiB") for n, model in enumerate(MODELS)]
    (row,) = board(several, known)
    assert row.tasks["toy"].reason == "8 MEMORY, for example: used 0 MiB"


def test_figures_beside_the_score(known: dict[str, Reference]) -> None:
    seconds = [1.0, 2.0, 4.0, 4.0, 5.0, 6.0, 7.0, 8.0]
    measured = [
        row for model, s in zip(MODELS, seconds, strict=True) for row in rows("mine", {model: 1.0}, call_wall_s=s)
    ]  # fmt: skip
    (found,) = board([*measured, failed("mine", "model_7", Outcome.EXCEPTION, call_wall_s=100.0)], known)
    assert (found.calls_ok, found.calls_expected, found.seconds_per_model) == (7, 16, 4.5)


def test_no_more_calls_are_counted_than_there_are_models(known: dict[str, Reference]) -> None:
    (found,) = board([*both("mine", MEASURE), *rows("mine", {"model_99": 1.0})], known)
    assert (found.calls_ok, found.calls_expected) == (16, 16)


@pytest.mark.rest
@settings(deadline=None, max_examples=25)
@given(data=st.data())
def test_neither_the_order_of_records_nor_the_names_of_submissions_matter(
    data: st.DataObject, known: dict[str, Reference]
) -> None:
    """Only rows of equal rank are ordered by their names."""
    measures = data.draw(st.lists(st.sampled_from([GAPS, MEASURE, CONSTANT, SCALED]), max_size=4))
    names = data.draw(st.permutations(["a", "b", "c", "d"]))
    plain = [row for name, values in zip("abcd", measures, strict=False) for row in both(name, values)]
    renamed = [row for name, values in zip(names, measures, strict=False) for row in both(name, values)]
    shuffled = data.draw(st.permutations(renamed))

    def numbers(evaluations: list[Evaluation]) -> list[tuple[int | None, float | None]]:
        return [(row.rank, row.result.score) for row in board(evaluations, known)]

    assert numbers(renamed) == numbers(plain)
    assert board(list(shuffled), known) == board(renamed, known)


TASKS = ("open", "secret")
NOT_RUN = "No score: none of 8 calls was made."
CRASH = "No score: 8 CRASH: boo."


class State(NamedTuple):
    """Records of a submission, and the expected sentences on its row and on its results on both tasks."""

    records: list[Evaluation]
    of_row: str
    on_open: str
    on_secret: str
    hidden: bool = False  #: the second task
    asked_only: bool = False  #: the calls were asked for, and none was made


WHOLE = [row for task in TASKS for row in rows("mine", MEASURE, task)]
CRASHED = [failed("mine", f"model_{n}", Outcome.CRASH, task, message="boo.") for task in TASKS for n in range(8)]

STATES = {
    "rounded": State(WHOLE, f"Score 29.5. {INTERVAL_WITHHELD}", "", ONLY_ROUNDED, hidden=True),
    "interrupted": State(
        WHOLE[:2], "No score: only 2 of 16 calls were made.", "No score: only 2 of 8 calls were made.", NOT_RUN
    ),
    "partial": State(WHOLE[:8], "Score 29.54; incomplete: no score on secret.", "", NOT_RUN),
    "failed": State(CRASHED, "No score: 16 of 16 calls have no value (16 CRASH).", CRASH, CRASH),
    "failed on a hidden task": State(
        CRASHED, "No score: 16 of 16 calls have no value (16 CRASH).", CRASH,
        "No score: the reason is withheld, since the task is hidden.", hidden=True,
    ),
    "not run": State(WHOLE, "No score: none of 16 calls was made.", NOT_RUN, NOT_RUN, asked_only=True),
}  # fmt: skip


@pytest.mark.parametrize("state", STATES.values(), ids=STATES)
def test_a_sentence(state: State, tmp_path: Path) -> None:
    row = the_row(tmp_path, state)
    assert state_of(row, 1) == state.of_row
    assert [state_on(task) for task in row.tasks.values()] == [state.on_open, state.on_secret]
    for task, sentence in zip(row.tasks.values(), (state.on_open, state.on_secret), strict=True):
        assert (task.official_text() == "not run") == (sentence == NOT_RUN)
        assert (task.official_text() == "unfinished") == ("only" in sentence)


def test_a_row_on_open_tasks_has_its_interval_and_rank_and_its_results_need_no_sentence(tmp_path: Path) -> None:
    row = the_row(tmp_path, State(rows("mine", GAPS, "open") + rows("mine", GAPS, "secret"), "", "", ""))
    assert state_of(row, 3) == "Score 100.00 (90 % interval 100.0 to 100.0), rank 1 of 3."
    assert [state_on(task) for task in row.tasks.values()] == ["", ""]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("interrupted", ["mine (14 missing); a repeated run makes missing calls"]),
        ("failed", ["mine (16 CRASH); pgdl report says why calls failed"]),
        ("rounded", []),
    ],
)
def test_a_board_names_the_rows_that_lack_values(name: str, expected: list[str], tmp_path: Path) -> None:
    known, state = references(tmp_path, *TASKS), STATES[name]
    board = build_board(collect(state.records, known), known)
    start = "without a value for every model: "
    assert [line.removeprefix(start) for line in board.remarks if line.startswith(start)] == expected


def the_row(directory: Path, state: State) -> Row:
    known = references(directory, *TASKS)
    made, asked = ([], list(map(request, state.records))) if state.asked_only else (state.records, [])
    (row,) = build_board(collect(made, known, asked), known, ["secret"] if state.hidden else []).rows
    return row
