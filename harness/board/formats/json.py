"""The board as JSON: everything that is known of each row."""

import json

from harness.board.board import Board

SUFFIX = ".json"


def render(board: Board) -> str:
    """Return the board's content; a number that is not finite would be a bug."""
    return json.dumps(board.content, indent=1, allow_nan=False) + "\n"
