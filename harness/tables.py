"""Consoles and tables for output. Their content cannot control the terminal, and is never cut."""

import errno
import os
import re
from collections.abc import Collection, Iterable, Sequence
from typing import Any, TextIO

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType
from rich.progress import Task, TextColumn
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from harness.text import is_printable, may_wrap, printable_lines, safe_line

#: Width in characters of output that is not a terminal: no line is broken.
ENDLESS = 10_000


class SafeConsole(Console):
    """A console that removes control characters from content; only styles and cursor moves of rich remain."""

    def print(self, *objects: Any, **options: Any) -> None:
        """Print texts, a line each, or other objects of rich. Long lines of text are broken between words."""
        if self.is_terminal and all(isinstance(one, str) and may_wrap(one) for one in objects):
            options = {"soft_wrap": False} | options
        safe = [safe_line(one) if isinstance(one, str) else one for one in objects]
        if self.is_terminal:
            super().print(*safe, **options)
            return
        with self.capture() as captured:
            super().print(*safe, **options)
        *lines, unfinished = captured.get().split("\n")
        # rich fills the last cell of a row with blanks, too
        _write(self, "".join(f"{line.rstrip(' ')}\n" for line in lines) + unfinished)

    def on_broken_pipe(self) -> None:
        """Raise `BrokenPipeError` if the reader of the output has exited; rich alone would exit with code 1."""
        raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Return the segments of an object, such as a table or a progress bar, without control characters."""
        for part in super().render(renderable, options):
            is_safe = part.control or is_printable(part.text) or part.text == "\n"
            yield part if is_safe else Segment(printable_lines(part.text), part.style)


class PlainColumn(TextColumn):
    """A text beside a progress bar; nothing in the text is markup."""

    def render(self, task: Task) -> Text:
        """Return the text beside a task's progress bar."""
        return plain(self.text_format.format(task=task))


def plain(text: str) -> Text:
    """Return a text for live displays of rich, such as a spinner; nothing in it is markup."""
    return Text(safe_line(text))


def wide_console(*, quiet: bool = False, stderr: bool = False, file: TextIO | None = None) -> SafeConsole:
    """Return a console for standard output, standard error or `file`. It cuts nothing; if `quiet`, it prints nothing.

    Text in `file` has no colours, even if the program runs on a terminal or in a notebook.
    """
    forced = None if file is None else False
    console = SafeConsole(
        quiet=quiet, stderr=stderr, file=file, force_terminal=forced, force_jupyter=forced, highlight=False,
        markup=False, emoji=False, soft_wrap=True,
    )  # fmt: skip
    if not console.is_terminal:
        console.width = ENDLESS
    return console


def _write(console: Console, text: str) -> None:
    """Print a text of safe lines without changes, unless the console is quiet."""
    Console.print(console, Text(text), end="", soft_wrap=True)


def print_lines(console: Console, lines: Iterable[str], style: str = "dim") -> None:
    """Print lines in a style of rich; `dim` is for remarks."""
    for line in lines:
        console.print(line, style=style)


def print_table(
    console: Console,
    headings: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    left: Collection[str] = (),
    wrap: Collection[str] = (),
    styles: Sequence[str | None] = (),
) -> None:
    """Print a table like `print_columns`; `left` and `wrap` name columns by their headings, which must all differ."""
    wraps = [heading in wrap for heading in headings]
    lefts = [heading in left or heading in wrap for heading in headings]
    print_columns(console, headings, rows, left=lefts, wrap=wraps, styles=styles)


def print_columns(
    console: Console,
    headings: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    left: Sequence[bool],
    wrap: Sequence[bool],
    styles: Sequence[str | None] = (),
) -> None:
    """Print a table. `styles` has a style of rich for each row, or is empty.

    Columns that are not `left` are aligned to the right. On a narrow terminal, headings are broken at `_`, and cells of
    `wrap` columns at spaces. If that is not enough, lines are longer than the terminal is wide.
    """
    cells = [[safe_line(str(cell)) for cell in row] for row in rows]
    wrap = [wraps and console.width < ENDLESS for wraps in wrap]
    titles = [safe_line(heading) for heading in headings]
    widths = _widths(titles, cells, wrap)
    if not console.is_terminal:  # rich takes a second for a thousand rows
        _write(console, "".join(f"{_aligned(row, widths, left)}\n" for row in (titles, *cells)))
        return
    if console.width < min(sum(widths), ENDLESS):
        pairs = zip(titles, wrap, strict=True)
        titles = [heading if wraps else re.sub(r"_(?=.)", "_\n", heading) for heading, wraps in pairs]
        widths = _widths(titles, cells, wrap)
    table = Table(box=None, pad_edge=False, header_style="bold")
    for text, is_left, wraps in zip(titles, left, wrap, strict=True):
        table.add_column(Text(text), justify="left" if is_left else "right", no_wrap=not wraps, overflow="fold")
    for number, row in enumerate(cells):
        table.add_row(*map(Text, row), style=styles[number] if styles else None)
    terminal, console.width = console.width, max(console.width, sum(widths))
    console.print(table, soft_wrap=False)
    console.width = terminal


def table_width(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> int:
    """Return the number of characters in a line of a table whose cells are not broken."""
    return sum(_widths(headings, rows, [False] * len(headings))) - 2


def _aligned(cells: Sequence[str], widths: Sequence[int], left: Sequence[bool]) -> str:
    """Return the line of cells in columns of the given widths; cells that are not `left` are aligned to the right."""
    padded = []
    for cell, width, is_left in zip(cells, widths, left, strict=True):
        blanks = " " * (width - 2 - cell_len(cell))
        padded.append(f"{cell}{blanks}" if is_left else f"{blanks}{cell}")
    return "  ".join(padded).rstrip(" ")


def _widths(headings: Sequence[str], cells: Sequence[Sequence[str]], wrap: Sequence[bool]) -> list[int]:
    """Return the minimum width of each column in characters, including two spaces after it."""
    widths = []
    for position, heading in enumerate(headings):
        parts = [*heading.splitlines(), *(row[position] for row in cells)]
        if wrap[position]:
            parts = [word for part in parts for word in part.split()]
        widths.append(2 + max(map(cell_len, parts), default=0))
    return widths
