"""The board on the terminal: as wide as necessary, with colours if the terminal has any."""

from rich.console import Console

from harness.board.board import Board
from harness.tables import print_lines, print_table, wide_console

SUFFIX = None


def render(board: Board) -> str:
    """Return the table and its notes, formatted for the terminal."""
    console = wide_console()
    with console.capture() as capture:
        _print(board, console)
    return capture.get()


def _print(board: Board, console: Console) -> None:
    print_table(
        console,
        board.headings,
        map(board.cells, board.rows),
        left=[column.heading for column in board.columns if column.kind in ("name", "text")],
        wrap=[column.heading for column in board.columns if column.kind == "words"],
        styles=["dim" if board.is_faint(row) else None for row in board.rows],
    )
    console.print()
    print_lines(console, board.notes)
