"""How sure the rows of a leaderboard and their order are."""

import csv
import io
import json
from pathlib import Path

import pytest
from board_examples import GAPS, MEASURE, collect, references, rows

from harness.board.board import Board
from harness.board.formats import csv as csv_format
from harness.board.formats import json as json_format
from harness.board.leaderboard import build_board
from harness.board.rankings import held_out_sets
from harness.format.reference import Reference
from scoring import HeldOut, TaskCalls, compare_submissions

CLOSE = [gap + 0.001 for gap in GAPS]


@pytest.fixture
def known(tmp_path: Path) -> dict[str, Reference]:
    return references(tmp_path)


def board(known: dict[str, Reference], **arguments: object) -> Board:
    evaluations = [*rows("best", CLOSE), *rows("weak"), *rows("outside", GAPS, sandbox="none")]
    return build_board(collect([*evaluations, *rows("half", MEASURE[:7])], known), known, **arguments)  # type: ignore[arg-type]


def test_standings_are_those_among_the_rows_that_rank(known: dict[str, Reference]) -> None:
    (reference,) = known.values()
    named = {
        "best": TaskCalls(reference.grid, reference.gaps, dict(zip(reference.models, CLOSE, strict=True))),
        "weak": TaskCalls(reference.grid, reference.gaps, dict(zip(reference.models, MEASURE, strict=True))),
    }
    expected = compare_submissions({name: {"toy": calls} for name, calls in named.items()}).standings
    found = {row.submission: row.standing for row in board(known).rows}
    assert found == {**expected, "outside": None, "half": None}


def test_a_standing_holds_the_score_and_the_rank_of_its_row(known: dict[str, Reference]) -> None:
    ranked = [(row, row.standing) for row in board(known).rows if row.standing is not None]
    assert [row.submission for row, _ in ranked] == ["best", "weak"]
    for row, standing in ranked:
        assert row.rank is not None
        assert standing.low <= standing.score <= standing.high
        assert standing.score == pytest.approx(row.score)
        assert standing.best_rank <= row.rank <= standing.worst_rank


def test_test_sets_tell_the_part_of_the_error_that_is_due_to_them(known: dict[str, Reference]) -> None:
    sets = {"toy": HeldOut([0.5] * 8, 100)}
    without, given = board(known), board(known, held_out=sets)
    for one, other in zip(without.rows, given.rows, strict=True):
        if one.standing is not None and other.standing is not None:
            assert one.standing.gap_error is None
            assert other.standing.error == one.standing.error
    weak = next(row.standing for row in given.rows if row.submission == "weak")
    assert weak is not None
    assert weak.gap_error is not None
    assert 0 < weak.gap_error <= weak.error


def test_test_sets_are_known_if_the_number_of_samples_of_every_task_is(known: dict[str, Reference]) -> None:
    assert held_out_sets(known, {"toy": 100}) == {"toy": HeldOut([0.0] * 8, 100)}
    assert held_out_sets(known, {"toy": None}) is held_out_sets(known, {}) is None


def test_nothing_is_said_of_a_hidden_task(known: dict[str, Reference]) -> None:
    found = board(known, withheld=["toy"])
    assert [row.standing for row in found.rows] == [None] * len(found.rows)
    assert "interval" not in found.headings
    lines = list(csv.DictReader(io.StringIO(csv_format.render(found))))
    assert {line["low"] for line in lines} == {""}
    assert {row["standing"] for row in json.loads(json_format.render(found))["rows"]} == {None}
