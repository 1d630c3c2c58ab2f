"""Tables on the terminal and in pipes: names and numbers are never truncated."""

import re
from collections.abc import Collection, Iterable, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

#: Width of output that is not a terminal, so that lines are never broken.
ENDLESS = 10_000


def wide_console(*, quiet: bool = False) -> Console:
    """Return a console without truncation, line breaks or markup; a quiet one prints nothing."""
    console = Console(quiet=quiet, highlight=False, markup=False, soft_wrap=True)
    if not console.is_terminal:
        console.width = ENDLESS
    return console


def print_lines(console: Console, lines: Iterable[str], style: str = "dim") -> None:
    """Print lines of text; a terminal wraps them between words, except lines with a command to copy."""
    for line in lines:
        console.print(line, style=style, soft_wrap="pgdl " in line)


def print_table(
    console: Console,
    headings: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    left: Collection[str] = (),
    wrap: Collection[str] = (),
    styles: Sequence[str | None] = (),
) -> None:
    """Print rows of cells under their headings.

    Columns are aligned to the right, except text in the columns `left` and `wrap`. If the terminal is too narrow,
    headings are broken at `_` and the cells of `wrap` at spaces; if that is not enough, lines exceed the width of the
    terminal. `styles` has one style per row.
    """
    cells = [[str(cell) for cell in row] for row in rows]
    shown = list(headings)
    widths = _widths(shown, cells, wrap)
    if sum(widths) > console.width:
        shown = [heading if heading in wrap else re.sub(r"_(?=.)", "_\n", heading) for heading in headings]
        widths = _widths(shown, cells, wrap)
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading, text in zip(headings, shown, strict=True):
        justify = "left" if heading in left or heading in wrap else "right"
        table.add_column(Text(text), justify=justify, no_wrap=heading not in wrap, overflow="fold")  # type: ignore[arg-type]
    for number, row in enumerate(cells):
        table.add_row(*map(Text, row), style=styles[number] if styles else None)
    terminal, console.width = console.width, max(console.width, sum(widths))
    console.print(table, soft_wrap=False)
    console.width = terminal


def _widths(headings: Sequence[str], cells: Sequence[Sequence[str]], wrap: Collection[str]) -> list[int]:
    """Return the minimum width of each column, including the two spaces after it."""
    widths = []
    for position, heading in enumerate(headings):
        parts = [*heading.splitlines(), *(row[position] for row in cells)]
        if heading in wrap:
            parts = [word for part in parts for word in part.split()]
        widths.append(2 + max(map(len, parts), default=0))
    return widths
