"""Boards on standard output (`--format`) and in files (`--output`), in every format of `harness.board.formats`."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.board import formats
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


def show(board: "Board", form: str) -> None:
    """Print the board."""
    content = formats.find(form).render(board)
    click.echo(content, nl=False, color=True)  # keep colours, which are only there for a terminal


def write(board: "Board", stem: Path) -> list[Path]:
    """Write the board in every file format, each to `stem` plus a suffix; raises `UserError`."""
    paths = []
    for form in formats.written():
        content = form.render(board)
        path = stem.with_name(f"{stem.name}{form.SUFFIX}")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode() if isinstance(content, str) else content)
        except OSError as error:
            raise UserError(f"cannot be written: {error.strerror}", file=error.filename or path) from error
        paths.append(path)
    return paths
