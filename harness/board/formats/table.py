"""The board as a text table: on a terminal with colours and the columns that fit, elsewhere with all columns."""

import io
import math
from dataclasses import replace

from rich.console import Console

from harness.board import columns as c
from harness.board.board import Board
from harness.board.column import Column
from harness.board.row import Row
from harness.board.states import beside_chance
from harness.tables import print_columns, print_lines, table_width, wide_console

SUFFIX = None

DRAWN = 10  #: number of characters of a drawn interval

#: Key of the column of drawn intervals, and its explanation, which begins with the heading.
DRAWN_KEY = "drawn"
DRAWING = (
    "{}: the interval (\N{BOX DRAWINGS LIGHT HORIZONTAL}), the score (\N{BLACK CIRCLE}) and the level of chance "
    "(\N{BOX DRAWINGS LIGHT VERTICAL}), on one axis for all rows."
)

#: Column: whether chance could explain the score (`could be`, `beyond`, or a dash if unknown).
BESIDE_CHANCE = Column[Row](
    "beside_chance", lambda row: row.may_be_chance, title="chance", kind="text", spare=1,
    text=lambda row: beside_chance(row.may_be_chance).removesuffix(" chance") or "-",
)  # fmt: skip


def render(board: Board) -> str:
    """Return the table and its remarks as text, with all columns and without the explanations of the numbers."""
    text = io.StringIO()
    show(board, wide_console(file=text), wide=True, explain=False)
    return text.getvalue().rstrip("\n")


def show(board: Board, console: Console, *, wide: bool, explain: bool = True) -> None:
    """Print the table and its notes. `explain=False` leaves out the explanations of the numbers."""
    columns = terminal_columns(board)
    fits = wide or not console.is_terminal
    shown = columns if fits else _fitting(board, columns, console.width)
    kinds = [column.kind for column in shown]
    print_columns(
        console,
        [column.heading for column in shown],
        _cells(board, shown),
        left=[kind in ("name", "text", "words") for kind in kinds],
        wrap=[kind == "words" for kind in kinds],
        styles=["dim" if board.is_faint(row) else None for row in board.rows],
    )
    console.print()
    left_out = [column.heading or column.key for column in columns if column not in shown]
    if left_out:
        print_lines(console, [f"Left out, since the terminal is too narrow: {', '.join(left_out)}; --wide shows all."])
    drawing = [DRAWING.format(column.heading) for column in shown if column.key == DRAWN_KEY]
    print_lines(console, [*drawing, *board.notes] if explain else [*board.remarks, *board.marks])


def terminal_columns(board: Board) -> list[Column[Row]]:
    """Return the columns for a terminal. After the score come its interval as a drawing, chance, and tasks' scores."""
    found = board.columns
    keys = {c.TASK_SCORE.key_on(task) for task in board.tasks}
    tasks = [column for column in found if column.key in keys]
    first = found.index(next(column for column in found if column.key == c.SCORE.key)) + 1
    drawn = [_drawn(board)] if any(column.key == c.INTERVAL.key for column in found) else []
    chance = [BESIDE_CHANCE] if any(row.may_be_chance is not None for row in board.rows) else []
    rest = [column for column in found[first:] if column not in tasks]
    short = [replace(column, title=board.short_tasks[column.heading]) for column in tasks]
    return [*found[:first], *drawn, *chance, *short, *rest]


def _drawn(board: Board) -> Column[Row]:
    ends = [max(row.standing.high, row.chance_level or 0.0) for row in board.rows if row.standing]
    top = math.ceil(round(max(ends, default=0.0), 6)) or 1

    def draw(row: Row) -> str:
        if row.standing is None:
            return ""
        low, high, score, chance = (
            min(DRAWN - 1, max(0, round((DRAWN - 1) * points / top)))
            for points in (row.standing.low, row.standing.high, row.standing.score, row.chance_level or 0.0)
        )
        cells = ["\N{BOX DRAWINGS LIGHT HORIZONTAL}" if low <= place <= high else " " for place in range(DRAWN)]
        cells[chance] = "\N{BOX DRAWINGS LIGHT VERTICAL}"
        cells[score] = "\N{BLACK CIRCLE}"
        return "".join(cells).rstrip()

    return Column(DRAWN_KEY, lambda row: row.standing, text=draw, title=f"0 to {top}", kind="text", spare=3)


def _fitting(board: Board, columns: list[Column[Row]], width: int) -> list[Column[Row]]:
    shown = [column for column in columns if not column.spare]
    for spare in sorted({column.spare for column in columns} - {0}):
        more = [column for column in columns if column in shown or column.spare == spare]
        headings = [column.heading.replace("_", "_\n") for column in more]  # as `print_columns` breaks them
        if table_width(headings, _cells(board, more)) <= width:
            shown = more
    return shown


def _cells(board: Board, columns: list[Column[Row]]) -> list[list[str]]:
    return [[column.shown(row) for column in columns] for row in board.rows]
