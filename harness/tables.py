"""Tables on the terminal and in pipes: names and numbers are never cut."""

import re
from collections.abc import Collection, Iterable, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

#: Width of what is not a terminal, where lines stay whole.
ENDLESS = 10_000


def wide_console(*, quiet: bool = False) -> Console:
    """A console that cuts nothing, breaks no line unasked and takes nothing for markup; a quiet one prints nothing."""
    console = Console(quiet=quiet, highlight=False, markup=False, soft_wrap=True)
    if not console.is_terminal:
        console.width = ENDLESS
    return console


def print_lines(console: Console, lines: Iterable[str], style: str = "dim") -> None:
    """Print lines of text; on a terminal they are broken between words, unless they hold a command to be copied."""
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

    Columns are numbers, aligned to the right, but for those `left`, which are text, and those `wrap`, which are text
    of several words. Where the terminal is too narrow, headings are broken at `_` and cells of `wrap` at spaces; if
    that is not enough, lines are longer than the terminal is wide. `styles` are those of the rows.
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
    """The least width of each column, with the two spaces behind it."""
    widths = []
    for position, heading in enumerate(headings):
        parts = [*heading.splitlines(), *(row[position] for row in cells)]
        if heading in wrap:
            parts = [word for part in parts for word in part.split()]
        widths.append(2 + max(map(len, parts), default=0))
    return widths
