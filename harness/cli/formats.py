"""Options for printing a board in any format of `harness.board.formats`."""

import sys
from collections.abc import Callable, Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from harness.board import ON_REQUEST, formats
from harness.cli import options
from harness.errors import UserError
from harness.extras import require
from harness.printing import put
from harness.shell import typed

if TYPE_CHECKING:
    from harness.board.board import Board

#: Printed instead of the long explanations of the numbers.
EXPLAINED = "--explain prints the rule, and what the columns mean."

#: The format for people.
TABLE = "table"


def _require_fit(form: str) -> str:
    if form != TABLE and sys.stdout.isatty() and getattr(formats.find(form), "BINARY", False):
        raise UserError(f"--format {form} is not for a terminal", remedy="add > FILE")
    return form


option = click.option(
    "--format", "form", type=click.Choice(formats.names()), default=TABLE, show_default=True, help="Output format.",
    callback=lambda _context, _parameter, form: _require_fit(form),
)  # fmt: skip


def _parse_columns(text: str) -> tuple[str, ...]:
    from harness.board.columns import find_more

    names = options.parse_names(text)
    find_more(names)
    return names


def refuse_names(remedy: str) -> Callable[[Any], Any]:
    """Return a decorator for commands that take no names. A name raises `UserError` with `remedy.format(name)`."""

    def refuse(context: click.Context, _parameter: click.Parameter, names: tuple[str, ...]) -> None:
        if names and not context.resilient_parsing:
            advice = remedy.format(typed(names[0]))
            raise UserError(f"pgdl {context.info_name} takes no names", found=names[0], remedy=advice)

    return click.argument("names", nargs=-1, metavar="", expose_value=False, callback=refuse)


columns = click.option(
    "--columns", callback=options.parsed(_parse_columns, ()), metavar="NAME[,NAME...]",
    help=f"Also show these values, in a column for each task: {', '.join(ON_REQUEST)}.",
)  # fmt: skip


wide = click.option(
    "--wide", is_flag=True, help="Show all columns of the table, also where the terminal is too narrow for them."
)


def require_directory(output: Path | None, file: str) -> None:
    """Raise `UserError` if the directory `output` has the suffix of a format, such as .csv, or if pyarrow is missing.

    `file` is the name, without suffix, of the files that the command writes to the directory.
    """
    if output is None:
        return
    require("--output writes each format", "pyarrow")
    if (form := _name_of(output.suffix)) is not None:
        stem = output.with_suffix("")
        remedy = (
            f"--output {stem} writes {stem / file}{output.suffix} and other formats, "
            f"--format {form} > FILE writes only this format"
        )
        raise UserError("--output", expected="a directory", found=str(output), remedy=remedy)


def require_stem(output: Path | None, more: Collection[str]) -> None:
    """Raise `UserError` if `output` is a directory, or ends in the suffix of a format or in a suffix in `more`.

    The command adds these suffixes to `output` itself.
    """
    if output is None:
        return
    require("--output writes each format and plots", "pyarrow", "matplotlib")
    expected = "the beginning of the files' names, to which suffixes are added"
    if output.suffix in more or _name_of(output.suffix) is not None:
        remedy = f"--output {output.with_suffix('')} writes {output} and other files"
        raise UserError("--output", expected=expected, found=str(output), remedy=remedy)
    if output.is_dir():
        found, remedy = f"the directory {output}", f"--output {output / 'comparison'} writes into it"
        raise UserError("--output", expected=expected, found=found, remedy=remedy)


def _name_of(suffix: str) -> str | None:
    return {formats.find(name).SUFFIX: name for name in formats.names()}.get(suffix) if suffix else None


def require_table(form: str, **given: bool) -> None:
    """Raise `UserError` if an option in `given` (name -> whether it is used) is used with a format other than table."""
    for name, is_given in given.items():
        if is_given and form != TABLE:
            raise UserError(f"--{name}", expected=f"--format {TABLE} with it", found=form, remedy=f"leave --{name} out")


def show(board: "Board", form: str, wide: bool, explain: bool = True) -> None:
    """Print the board in the format `form`. For a table: `wide` shows all columns, `explain` explains the numbers."""
    if form != TABLE:
        put(formats.find(form).render(board))
        return
    from harness.board.formats import table
    from harness.tables import print_lines, wide_console

    console = wide_console()
    table.show(board, console, wide=wide, explain=explain)
    print_lines(console, [] if explain else [EXPLAINED])
