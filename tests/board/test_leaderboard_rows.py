"""Tests of the leaderboard's rows: their order, rows without a rank, and texts about each row."""

from pathlib import Path
from typing import NamedTuple

import pytest
from board_examples import GAPS, MEASURE, MODELS, Known, board_of, failed, in_csv, in_json, references, rows

from harness.board.disclosure import INTERVAL_WITHHELD, ONLY_ROUNDED
from harness.board.insight import is_on_front
from harness.board.scores import decimal
from harness.board.states import state_of, state_on
from harness.outcome import Outcome
from harness.records import Evaluation
from tests.records.evaluation_rows import request

SCALED = [3 * gap + 1 for gap in GAPS]
CONSTANT = [1.0] * 8
BOTH = ("toy", "second")


RANKS = {
    "the best first": (
        [*rows("middling", MEASURE, BOTH), *rows("best", GAPS, BOTH), *rows("useless", CONSTANT, BOTH)],
        "1 best 100.0, 2 middling 29.5, 3 useless 0.0"),
    "equal scores by name": (
        [*rows("b", GAPS, BOTH), *rows("a", SCALED, BOTH), *rows("c", MEASURE, BOTH)],
        "1 a 100.0, 1 b 100.0, 3 c 29.5"),
    "baselines": (
        [*rows("path_norm", GAPS, BOTH, is_baseline=True), *rows("mine", MEASURE, BOTH)],
        "1 path_norm 100.0, 2 mine 29.5"),
    "no sandbox, no rank": (
        [*rows("bold", GAPS, BOTH, sandbox="none"), *rows("careful", CONSTANT, BOTH)],
        "1 careful 0.0, None bold 100.0"),
    "incomplete below complete": (
        [*rows("half", GAPS), *rows("whole", CONSTANT, BOTH)], "1 whole 0.0, 2 half 100.0"),
    "a timeout: incomplete, 0": (
        [*rows("late", GAPS, BOTH), failed("late", "model_0", Outcome.TIMEOUT), *rows("half", MEASURE),
         *(failed("broken", model, Outcome.CRASH) for model in MODELS)],
        "1 half 29.5, 2 late 0.0, 3 broken -"),
}  # fmt: skip


@pytest.mark.parametrize(("records", "expected"), RANKS.values(), ids=RANKS)
def test_ranks_and_scores(records: list[Evaluation], expected: str, known: Known) -> None:
    found = board_of(records, known).rows
    assert ", ".join(f"{row.rank} {row.submission} {decimal(row.score, 1)}" for row in found) == expected
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
    assert [(row.rank, row.submission) for row in found.rows] == [(1, "late"), (2, "half"), (3, "whole")]
    assert all(row.complete and (hidden or row.standing) for row in found.rows)
    assert found.cells(found.rows[2])[found.headings.index("flat")] == "-"
    flat = board_of(rows("a", GAPS, "flat"), {"flat": tasks["flat"]})
    assert [(row.rank, row.tasks["flat"].official) for row in flat.rows] == [(None, None)]


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
    "whole": State(WHOLE, "Score 29.54 (90 % interval 15.3 to 48.4).", "", ""),
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
    made, asked = ([], list(map(request, state.records))) if state.asked_only else (state.records, [])
    (row,) = board_of(made, references(tmp_path, *TASKS), ["secret"] if state.hidden else [], asked).rows
    assert state_of(row, 1) == state.of_row
    assert (", rank 1 of 3" in state_of(row, 3)) == (row.score is not None)
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


@pytest.mark.parametrize("withheld", [[], ["secret"]])
def test_a_board_names_the_rows_that_lack_values_on_any_task(withheld: list[str], tmp_path: Path) -> None:
    start, known = "without a value for every model: ", references(tmp_path, *TASKS)
    for name, expected in (
        ("interrupted", ["mine (14 missing); a repeated run makes missing calls"]),
        ("failed", ["mine (16 CRASH); pgdl report says why calls failed"]),
        ("rounded", []),
    ):
        remarks = board_of(STATES[name].records, known, withheld).remarks
        assert [line.removeprefix(start) for line in remarks if line.startswith(start)] == expected, name


SAID = {"team": "=1+1", "description": "the mean *margin*", "paper": "https://example.org/margin"}


def test_a_row_says_what_the_last_request_said_and_no_text_is_a_formula_in_a_spreadsheet(known: Known) -> None:
    mine, theirs = rows("mine"), rows("theirs", GAPS, is_baseline=True)
    asked = [request(mine[0], team="before"), request(mine[0], **SAID), request(theirs[0], description="a norm")]
    found = board_of([*mine, *theirs], known, requests=asked)
    assert [{key: in_json(found)[name][key] for key in SAID} for name in ("mine", "theirs")] == [
        SAID, {"team": "", "description": "a norm", "paper": ""},
    ]  # fmt: skip
    assert [in_csv(found)["mine"][key] for key in ("team", "paper")] == ["'=1+1", SAID["paper"]]
    others = board_of([*mine, *theirs], known, requests=asked[2:])
    assert ["team" in board.headings for board in (found, others)] == [True, False]
