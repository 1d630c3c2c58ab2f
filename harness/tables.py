"""Prints tables on the terminal and to pipes, and never truncates names or numbers."""

import re
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType
from rich.progress import Task, TextColumn
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from harness.text import may_wrap, printable_lines, safe_line

#: Width of output that is not a terminal, so that lines are never broken.
ENDLESS = 10_000


class SafeConsole(Console):
    """A console that untrusted content cannot control: only rich's own styles and cursor moves reach the terminal."""

    def print(self, *objects: Any, **options: Any) -> None:
        """Print texts, each as one line, which a terminal breaks between words, and objects that rich can render."""
        if self.is_terminal and all(isinstance(one, str) and may_wrap(one) for one in objects):
            options = {"soft_wrap": False} | options
        super().print(*(safe_line(one) if isinstance(one, str) else one for one in objects), **options)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Yield the segments of the output with printable text, also of tables and bars."""
        for part in super().render(renderable, options):
            is_safe = part.control or part.text.isprintable() or part.text == "\n"
            yield part if is_safe else Segment(printable_lines(part.text), part.style)


class PlainColumn(TextColumn):
    """A column of text beside a bar, without markup."""

    def render(self, task: Task) -> Text:
        """Return the text beside the bar of a task."""
        return plain(self.text_format.format(task=task))


def plain(text: str) -> Text:
    """Return a printable text in which rich interprets no markup, for live displays such as a spinner."""
    return Text(safe_line(text))


def wide_console(*, quiet: bool = False, stderr: bool = False) -> SafeConsole:
    """Return a console without truncation and markup; with `quiet`, it prints nothing."""
    console = SafeConsole(quiet=quiet, stderr=stderr, highlight=False, markup=False, emoji=False, soft_wrap=True)
    if not console.is_terminal:
        console.width = ENDLESS
    return console


def print_lines(console: Console, lines: Iterable[str], style: str = "dim") -> None:
    """Print lines of text."""
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
    """Print a table as `print_columns`; headings are distinct, and `left` and `wrap` contain headings of columns."""
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
    """Print a table, of which columns may have equal headings.

    `left` says for each column whether it is aligned to the left. If the terminal is too narrow, headings are broken at
    `_`, and cells at spaces in the columns for which `wrap` is true; lines that are still too long exceed the width of
    the terminal. `styles` has a style for each row.
    """
    cells = [[safe_line(str(cell)) for cell in row] for row in rows]
    wrap = [wraps and console.width < ENDLESS for wraps in wrap]
    titles = [safe_line(heading) for heading in headings]
    widths = _widths(titles, cells, wrap)
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
    """Return the width of a table in characters, without broken lines."""
    return sum(_widths(headings, rows, [False] * len(headings))) - 2


def _widths(headings: Sequence[str], cells: Sequence[Sequence[str]], wrap: Sequence[bool]) -> list[int]:
    """Return the minimum width of each column in characters, including two spaces after the column."""
    widths = []
    for position, heading in enumerate(headings):
        parts = [*heading.splitlines(), *(row[position] for row in cells)]
        if wrap[position]:
            parts = [word for part in parts for word in part.split()]
        widths.append(2 + max(map(cell_len, parts), default=0))
    return widths
