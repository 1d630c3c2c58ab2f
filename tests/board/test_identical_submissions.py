"""Tests of remarks on submissions that are the same under several names; a remark contains no value."""

from collections.abc import Sequence

import pytest
from board_examples import MEASURE, collect, failed, rows

from harness.board.formats import find
from harness.board.leaderboard import build_board
from harness.format.reference import Reference
from harness.outcome import Outcome
from harness.records import Evaluation


def remarks(records: Sequence[Evaluation], known: dict[str, Reference], withheld: Sequence[str] = ()) -> list[str]:
    """Return the board's remarks that submissions are the same."""
    board = build_board(collect(records, known), known, withheld)
    return [line for line in board.remarks if line.startswith("the same ")]


def test_the_same_files_under_several_names_are_named_once(known: dict[str, Reference]) -> None:
    records = [*rows("one", submission_digest="d"), *rows("two", submission_digest="d")]
    assert remarks(records, known) == ["the same files under several names: one, two"]


def test_the_same_values_of_other_files_are_named_and_so_is_a_copied_baseline(known: dict[str, Reference]) -> None:
    mine, theirs = rows("mine", submission_digest="a"), rows("theirs", submission_digest="b")
    library = rows("vc_dim", submission_digest="c", is_baseline=True)
    assert remarks([*mine, *theirs], known) == ["the same values on every model: mine, theirs"]
    assert remarks([*mine, *library], known) == ["the same values on every model: mine, vc_dim"]


def test_measures_of_the_library_may_agree_and_share_files(known: dict[str, Reference]) -> None:
    shared = [*rows("l2_norm", is_baseline=True), *rows("l2_norm(p=2)", is_baseline=True)]
    assert remarks(shared, known) == []


@pytest.mark.parametrize("values", [[1.0] * 8, [1.0, 2.0, 3.0] * 2 + [1.0, 2.0], MEASURE[:3]])
def test_constants_small_counts_and_few_values_say_nothing(values: list[float], known: dict[str, Reference]) -> None:
    records = [*rows("one", values, submission_digest="a"), *rows("two", values, submission_digest="b")]
    assert remarks(records, known) == []


def test_one_value_or_one_outcome_or_one_task_more_is_a_difference(known: dict[str, Reference]) -> None:
    one = rows("one", submission_digest="a")
    almost = rows("two", [*MEASURE[:-1], 6.0000000000000009], submission_digest="b")
    more = [*rows("two", submission_digest="b"), *rows("two", submission_digest="b", task="second")]
    crashed = [*rows("two", submission_digest="b"), failed("two", "model_0", Outcome.CRASH, submission_digest="b")]
    assert [remarks([*one, *other], known) for other in (almost, more, crashed)] == [[], [], []]


def test_of_hidden_tasks_only_the_fact_is_said(known: dict[str, Reference]) -> None:
    records = [*rows("one", submission_digest="a"), *rows("two", submission_digest="b")]
    assert remarks(records, known, ["toy", "second"]) == ["the same values on every model: one, two"]


@pytest.mark.parametrize("form", ["table", "markdown", "json"])
def test_the_remark_stands_in_formats_for_readers_and_in_json(form: str, known: dict[str, Reference]) -> None:
    found = build_board(
        collect([*rows("one", submission_digest="d"), *rows("two", submission_digest="d")], known), known
    )
    assert "the same files under several names: one, two" in str(find(form).render(found))
