"""The board as JSON: everything known about each row."""

import json

from harness.board.board import Board

SUFFIX = ".json"


def render(board: Board) -> str:
    """Return the board's content; a number that is not finite is a bug and raises."""
    return json.dumps(board.content, indent=1, allow_nan=False) + "\n"
