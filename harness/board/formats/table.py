"""The board on the terminal: colours if it has any, and the columns that fit; elsewhere as wide as necessary."""

from rich.console import Console

from harness.board.board import Board
from harness.board.column import Column
from harness.board.row import Row
from harness.tables import print_columns, print_lines, table_width, wide_console

SUFFIX = None


def render(board: Board, *, wide: bool = False) -> str:
    """Return the table and its notes, formatted for the terminal; if `wide`, all columns, whether they fit or not."""
    console = wide_console()
    with console.capture() as capture:
        show(board, console, wide=wide)
    return capture.get()


def show(board: Board, console: Console, *, wide: bool) -> None:
    """Print the table and its notes; see `render`."""
    fits = wide or not console.is_terminal
    _print(board, board.columns if fits else _fitting(board, console.width), console)


def _fitting(board: Board, width: int) -> list[Column[Row]]:
    """Return the columns without those that can best be spared, as far as the width demands."""
    shown = board.columns
    while (most := max(column.spare for column in shown)) and _width(board, shown) > width:
        shown = [column for column in shown if column.spare < most]
    return shown


def _width(board: Board, columns: list[Column[Row]]) -> int:
    return table_width([column.heading for column in columns], _cells(board, columns))


def _cells(board: Board, columns: list[Column[Row]]) -> list[list[str]]:
    return [[column.shown(row) for column in columns] for row in board.rows]


def _print(board: Board, columns: list[Column[Row]], console: Console) -> None:
    kinds = [column.kind for column in columns]
    print_columns(
        console,
        [column.heading for column in columns],
        _cells(board, columns),
        left=[kind in ("name", "text", "words") for kind in kinds],
        wrap=[kind == "words" for kind in kinds],
        styles=["dim" if board.is_faint(row) else None for row in board.rows],
    )
    console.print()
    keys = {column.key for column in columns}
    left_out = [column.heading for column in board.columns if column.key not in keys]
    if left_out:
        print_lines(console, [f"Left out, since the terminal is too narrow: {', '.join(left_out)}; --wide shows all."])
    print_lines(console, board.notes)
