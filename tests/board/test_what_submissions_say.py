"""Tests of a submission's team, description and paper on a board: the texts of its last request are shown."""

import csv
import io
from pathlib import Path

import pytest

from harness.board import formats
from harness.board.board import Board
from harness.board.leaderboard import build_board
from tests.board.board_examples import GAPS, collect, references, rows
from tests.records.evaluation_rows import request

SAID = {"team": "=1+1", "description": "the mean *margin*", "paper": "https://example.org/margin"}


def board(directory: Path, *said: dict[str, str]) -> Board:
    """A board of a submission and a baseline; the submission was requested once with each of these texts."""
    mine, theirs = rows("mine"), rows("theirs", GAPS, is_baseline=True)
    requests = [*(request(mine[0], **texts) for texts in said), request(theirs[0], description="a norm")]
    known = references(directory)
    return build_board(collect([*mine, *theirs], known, requests), known)


def test_a_team_has_a_column_if_somebody_names_one(tmp_path: Path) -> None:
    assert "team" in board(tmp_path, SAID).headings
    assert "team" not in board(tmp_path, SAID | {"team": ""}).headings


@pytest.mark.parametrize("said", [[SAID], [SAID | {"team": "before", "paper": ""}, SAID]])
def test_programs_get_what_the_last_request_said(said: list[dict[str, str]], tmp_path: Path) -> None:
    found = {row["submission"]: row for row in board(tmp_path, *said).content["rows"]}
    assert {key: found["mine"][key] for key in SAID} == SAID
    assert [found["theirs"][key] for key in SAID] == ["", "a norm", ""]


def test_no_text_is_a_formula_in_a_spreadsheet(tmp_path: Path) -> None:
    text = formats.find("csv").render(board(tmp_path, SAID))
    (mine,) = [row for row in csv.DictReader(io.StringIO(text)) if row["submission"] == "mine"]
    assert (mine["team"], mine["paper"]) == ("'=1+1", SAID["paper"])
