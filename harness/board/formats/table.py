"""The board on the terminal: as wide as necessary, with colours if the terminal has any."""

from rich.console import Console

from harness.board.board import Board
from harness.tables import print_columns, print_lines, wide_console

SUFFIX = None


def render(board: Board) -> str:
    """Return the table and its notes, formatted for the terminal."""
    console = wide_console()
    with console.capture() as capture:
        _print(board, console)
    return capture.get()


def _print(board: Board, console: Console) -> None:
    kinds = [column.kind for column in board.columns]
    print_columns(
        console,
        board.headings,
        map(board.cells, board.rows),
        left=[kind in ("name", "text", "words") for kind in kinds],
        wrap=[kind == "words" for kind in kinds],
        styles=["dim" if board.is_faint(row) else None for row in board.rows],
    )
    console.print()
    print_lines(console, board.notes)
