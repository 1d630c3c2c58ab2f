"""The board as JSON: everything known about each row."""

import json

from harness.board.board import Board

SUFFIX = ".json"


def render(board: Board) -> str:
    """Return the content of the board as JSON; raise `ValueError` for a number that is not finite."""
    return json.dumps(board.content, indent=1, allow_nan=False) + "\n"
