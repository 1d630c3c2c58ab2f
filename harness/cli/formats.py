"""Boards on standard output (`--format`), in every format of `harness.board.formats`."""

import sys
from typing import TYPE_CHECKING

import click

from harness.board import formats
from harness.cli import options
from harness.errors import UserError

if TYPE_CHECKING:
    from harness.board.board import Board

#: The format for people; a command may print more than the board with it.
TABLE = "table"


def _require_fit(form: str) -> str:
    """Refuse a binary format on a terminal before anything runs."""
    if form != TABLE and sys.stdout.isatty() and formats.is_binary(form):
        raise UserError(f"--format {form} is not for a terminal", remedy="add > FILE")
    return form


option = click.option(
    "--format", "form", type=click.Choice(formats.names()), default=TABLE, show_default=True, help="Output format.",
    callback=lambda _context, _parameter, form: _require_fit(form),
)  # fmt: skip


def _parse_columns(context: click.Context, parameter: click.Parameter, value: str | None) -> tuple[str, ...]:
    """Refuse an unknown column before anything runs."""
    names = options.parse_names(context, parameter, value)
    if names:
        from harness.board.columns import find_more

        find_more(names)
    return names


columns = click.option(
    "--columns", callback=_parse_columns, metavar="NAME[,NAME...]",
    help="Also show these, a column for each task: chance, p_value, printed, kendall, granulated_kendall, sign_error, "
    "robust_sign_error.",
)  # fmt: skip


wide = click.option(
    "--wide", is_flag=True, help="Show all columns of the table, also where the terminal is too narrow for them."
)


def show(board: "Board", form: str, wide: bool) -> None:
    """Print the board."""
    from harness.board.formats import table

    content = table.render(board, wide=wide) if form == TABLE else formats.find(form).render(board)
    click.echo(content, nl=False, color=True)  # keep colours, which are only there for a terminal
