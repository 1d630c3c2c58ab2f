"""Each state of a row, and of its result on a task, is one sentence."""

from pathlib import Path
from typing import NamedTuple

import pytest
from board_examples import GAPS, MEASURE, collect, failed, references, rows

from harness.board.disclosure import INTERVAL_WITHHELD, ONLY_ROUNDED
from harness.board.leaderboard import build_board
from harness.board.row import Row
from harness.board.states import state_of, state_on
from harness.outcome import Outcome
from harness.records import Evaluation
from tests.records.evaluation_rows import request

TASKS = ("open", "secret")
NOT_RUN = "No score: none of 8 calls was made."
CRASH = "No score: 8 CRASH: boo."


class State(NamedTuple):
    """Records of a submission, and the sentences on its row and on its results on both tasks."""

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
