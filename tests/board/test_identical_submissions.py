"""Tests of remarks on submissions that are the same under several names; a remark contains no value."""

from collections.abc import Sequence

import pytest
from board_examples import MEASURE, Known, board_of, failed, rows

from harness.board.formats import find
from harness.outcome import Outcome
from harness.records import Evaluation


def remarks(records: Sequence[Evaluation], known: Known, withheld: Sequence[str] = ()) -> list[str]:
    """Return the board's remarks that submissions are the same."""
    return [line for line in board_of(records, known, withheld).remarks if line.startswith("the same ")]


FILES = "the same files under several names: one, two"
VALUES = "the same values on every model: one, two"
ONE, TWO = rows("one", submission_digest="a"), rows("two", submission_digest="b")


def two(values: list[float]) -> list[Evaluation]:
    return [row for name in ("one", "two") for row in rows(name, values, submission_digest=name)]


@pytest.mark.parametrize(
    ("records", "expected"),
    [
        ([*rows("one"), *rows("two")], [FILES]),
        ([*ONE, *TWO], [VALUES]),
        ([*ONE, *rows("two", submission_digest="c", is_baseline=True)], [VALUES]),
        ([*rows("l2_norm", is_baseline=True), *rows("l2_norm(p=2)", is_baseline=True)], []),
        (two([1.0] * 8), []),
        (two([1.0, 2.0, 3.0] * 2 + [1.0, 2.0]), []),
        (two(MEASURE[:3]), []),
        ([*ONE, *rows("two", [*MEASURE[:-1], 6.0000000000000009], submission_digest="b")], []),
        ([*ONE, *TWO, *rows("two", submission_digest="b", task="second")], []),
        ([*ONE, *TWO, failed("two", "model_0", Outcome.CRASH, submission_digest="b")], []),
    ],
    ids=[
        "the same files", "the same values", "a copied baseline", "measures of the library", "a constant",
        "small counts", "few values", "another last digit", "another task", "another outcome",
    ],
)  # fmt: skip
def test_a_remark_names_submissions_that_are_the_same(
    records: Sequence[Evaluation], expected: list[str], known: Known
) -> None:
    assert remarks(records, known) == expected


def test_of_hidden_tasks_only_the_fact_is_said(known: Known) -> None:
    assert remarks([*ONE, *TWO], known, ["toy", "second"]) == [VALUES]


@pytest.mark.parametrize("form", ["table", "markdown", "json"])
def test_the_remark_stands_in_formats_for_readers_and_in_json(form: str, known: Known) -> None:
    assert FILES in str(find(form).render(board_of([*rows("one"), *rows("two")], known)))
