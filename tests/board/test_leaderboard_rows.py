"""Tests of the leaderboard's rows: their order, rows without a rank, and the sentence on each row's state."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import hypothesis.strategies as st
import pytest
from board_examples import GAPS, MEASURE, MODELS, OFFICIAL, Known, board_of, failed, references, rows
from hypothesis import given, settings

from harness.board.disclosure import INTERVAL_WITHHELD, ONLY_ROUNDED
from harness.board.insight import is_on_front
from harness.board.row import Row
from harness.board.states import state_of, state_on
from harness.outcome import Outcome
from harness.records import Evaluation
from tests.records.evaluation_rows import request

SCALED = [3 * gap + 1 for gap in GAPS]
CONSTANT = [1.0] * 8


def standing(found: Sequence[Row]) -> list[tuple[int | None, str]]:
    return [(row.rank, row.submission) for row in found]


BOTH = ("toy", "second")


@pytest.mark.parametrize(
    ("records", "expected"),
    [
        (
            [*rows("middling", MEASURE, BOTH), *rows("best", GAPS, BOTH), *rows("useless", CONSTANT, BOTH)],
            [(1, "best", 100.0), (2, "middling", 100 * OFFICIAL), (3, "useless", 0.0)],
        ),
        (
            [*rows("b", GAPS, BOTH), *rows("a", SCALED, BOTH), *rows("c", MEASURE, BOTH)],
            [(1, "a", 100.0), (1, "b", 100.0), (3, "c", 100 * OFFICIAL)],
        ),
        (
            [*rows("path_norm", GAPS, BOTH, is_baseline=True), *rows("mine", MEASURE, BOTH)],
            [(1, "path_norm", 100.0), (2, "mine", 100 * OFFICIAL)],
        ),
        (
            [*rows("bold", GAPS, BOTH, sandbox="none"), *rows("careful", CONSTANT, BOTH)],
            [(1, "careful", 0.0), (None, "bold", 100.0)],
        ),
        ([*rows("half", GAPS), *rows("whole", CONSTANT, BOTH)], [(1, "whole", 0.0), (2, "half", 100.0)]),
        (
            [*rows("late", GAPS, BOTH), failed("late", "model_0", Outcome.TIMEOUT), *rows("half", MEASURE),
             *(failed("broken", model, Outcome.CRASH) for model in MODELS)],
            [(1, "half", 100 * OFFICIAL), (2, "late", 0.0), (3, "broken", None)],
        ),
    ],
    ids=[
        "the best first", "equal scores by name", "baselines", "no sandbox, no rank", "incomplete below complete",
        "a timeout: incomplete, 0",
    ],
)  # fmt: skip
def test_ranks_and_scores(
    records: list[Evaluation], expected: list[tuple[int | None, str, float | None]], known: Known
) -> None:
    found = board_of(records, known).rows
    assert standing(found) == [(rank, name) for rank, name, _ in expected]
    assert [row.score for row in found] == [score and pytest.approx(score) for *_, score in expected]
    assert all((row.kind == "baseline") == (row.submission == "path_norm") for row in found)


def test_figures_beside_the_score(known: Known) -> None:
    """No more calls are counted than there are models."""
    seconds = [1.0, 2.0, 4.0, 4.0, 5.0, 6.0, 7.0, 8.0]
    made = [row for m, s in zip(MODELS, seconds, strict=True) for row in rows("mine", {m: 1.0}, call_wall_s=s)]
    others = [failed("mine", "model_7", Outcome.EXCEPTION, call_wall_s=100.0), *rows("mine", {"model_99": 1.0})]
    several = [failed("bad", model, Outcome.MEMORY, message=f"used {n} MiB") for n, model in enumerate(MODELS)]
    bad, mine = board_of([*made, *others, *several], known).rows
    assert (mine.calls_ok, mine.calls_expected, mine.seconds_per_model) == (7, 16, 4.5)
    assert bad.tasks["toy"].reason == "8 MEMORY, for example: used 0 MiB"


def test_a_row_that_lacks_a_score_or_a_rank_is_not_the_fastest_for_its_score(known: Known) -> None:
    """A mean over other tasks, or from calls without a sandbox, cannot be compared with the other scores."""
    half, outside = rows("half", GAPS, call_wall_s=1.0), rows("outside", GAPS, BOTH, sandbox="none", call_wall_s=1.0)
    found = board_of([*rows("whole", MEASURE, BOTH, call_wall_s=2.0), *half, *outside], known).rows
    assert [row.submission for row, is_on in zip(found, is_on_front(found), strict=True) if is_on] == ["whole"]


@pytest.mark.parametrize("hidden", [[], ["flat"]])
def test_a_task_on_which_nobody_can_have_a_score_lowers_no_row(tmp_path: Path, hidden: list[str]) -> None:
    tasks = references(tmp_path, "flat", sizes=(4, 2)) | references(tmp_path, "toy")
    late = [*rows("late", GAPS), failed("late", "model_0", Outcome.TIMEOUT, "flat")]
    found = board_of([*late, *rows("half", MEASURE), *rows("whole", CONSTANT, [*tasks])], tasks, hidden)
    assert standing(found.rows) == [(1, "late"), (2, "half"), (3, "whole")]
    assert all(row.complete and (hidden or row.standing) for row in found.rows)


@pytest.mark.rest
@settings(deadline=None, max_examples=25)
@given(data=st.data())
def test_neither_the_order_of_records_nor_the_names_of_submissions_matter(data: st.DataObject, known: Known) -> None:
    """Only rows of equal rank are ordered by their names."""
    measures = data.draw(st.lists(st.sampled_from([GAPS, MEASURE, CONSTANT, SCALED]), max_size=4))
    names = data.draw(st.permutations(["a", "b", "c", "d"]))
    plain, renamed = (
        [row for name, values in zip(named, measures, strict=False) for row in rows(name, values, BOTH)]
        for named in ("abcd", names)
    )
    shuffled = data.draw(st.permutations(renamed))

    def numbers(evaluations: list[Evaluation]) -> list[tuple[int | None, float | None]]:
        return [(row.rank, row.result.score) for row in board_of(evaluations, known).rows]

    assert numbers(renamed) == numbers(plain)
    assert board_of(shuffled, known).rows == board_of(renamed, known).rows


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


WHOLE = rows("mine", MEASURE, TASKS)
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


def test_a_task_without_failed_calls_says_that_a_timeout_on_another_task_takes_its_score(known: Known) -> None:
    late = [*rows("late", GAPS, BOTH), failed("late", "model_0", Outcome.TIMEOUT, "second", message="over 1 s")]
    (row,) = board_of(late, known).rows
    assert row.reasons == {
        "1 TIMEOUT: over 1 s": ["second"], "skipped: over the time budget in task second": ["toy"],
    }  # fmt: skip
    assert state_on(row.tasks["toy"]) == "No score: skipped: over the time budget in task second."


def test_a_row_on_open_tasks_has_its_interval_and_rank_and_its_results_need_no_sentence(tmp_path: Path) -> None:
    row = the_row(tmp_path, State(rows("mine", GAPS, TASKS), "", "", ""))
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
@pytest.mark.parametrize("withheld", [[], ["secret"]])
def test_a_board_names_the_rows_that_lack_values_on_any_task(
    name: str, expected: list[str], withheld: list[str], tmp_path: Path
) -> None:
    remarks = board_of(STATES[name].records, references(tmp_path, *TASKS), withheld).remarks
    start = "without a value for every model: "
    assert [line.removeprefix(start) for line in remarks if line.startswith(start)] == expected


def the_row(directory: Path, state: State) -> Row:
    made, asked = ([], list(map(request, state.records))) if state.asked_only else (state.records, [])
    withheld = ["secret"] if state.hidden else []
    (row,) = board_of(made, references(directory, *TASKS), withheld, asked).rows
    return row
