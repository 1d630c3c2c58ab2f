"""Tests of a submission's team, description and paper on a board: the texts of its last request are shown."""

from pathlib import Path

import pytest

from harness.board.board import Board
from tests.board.board_examples import GAPS, board_of, in_csv, in_json, references, rows
from tests.records.evaluation_rows import request

SAID = {"team": "=1+1", "description": "the mean *margin*", "paper": "https://example.org/margin"}


def board(directory: Path, *said: dict[str, str]) -> Board:
    """A board of a submission and a baseline; the submission was requested once with each of these texts."""
    mine, theirs = rows("mine"), rows("theirs", GAPS, is_baseline=True)
    requests = [*(request(mine[0], **texts) for texts in said), request(theirs[0], description="a norm")]
    return board_of([*mine, *theirs], references(directory), requests=requests)


def test_a_team_has_a_column_if_somebody_names_one(tmp_path: Path) -> None:
    assert "team" in board(tmp_path, SAID).headings
    assert "team" not in board(tmp_path, SAID | {"team": ""}).headings


@pytest.mark.parametrize("said", [[SAID], [SAID | {"team": "before", "paper": ""}, SAID]])
def test_programs_get_what_the_last_request_said(said: list[dict[str, str]], tmp_path: Path) -> None:
    found = in_json(board(tmp_path, *said))
    assert [{key: found[name][key] for key in SAID} for name in ("mine", "theirs")] == [
        SAID, {"team": "", "description": "a norm", "paper": ""},
    ]  # fmt: skip


def test_no_text_is_a_formula_in_a_spreadsheet(tmp_path: Path) -> None:
    mine = in_csv(board(tmp_path, SAID))["mine"]
    assert (mine["team"], mine["paper"]) == ("'=1+1", SAID["paper"])
