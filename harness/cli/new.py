"""`pgdl new`: a commented template that passes `pgdl check`."""

from pathlib import Path

import click

from harness.cli import options
from harness.errors import UserError, writing
from harness.printing import say
from harness.shell import typed
from harness.worker.runtimes import DEFAULT


@click.command("new")
@click.argument("name", type=click.Path(path_type=Path))
@options.runtime
def command(name: Path, runtime: str | None) -> None:
    """Write a submission NAME/ with a commented complexity.py and metadata.

    Example: pgdl new my_measure --runtime torch
    """
    from harness.submission.name import ALLOWED, is_name, taken
    from harness.submission.template import template

    if not is_name(name.name):
        raise UserError("not a valid name", file=name, expected=ALLOWED, remedy="choose another")
    if owner := taken(name.name):
        raise UserError(f"cannot be called {name.name!r}: {owner}", remedy="choose another name")
    files = template(name.name, runtime or DEFAULT)
    with writing(name, problem="cannot be created"):
        try:
            name.mkdir(parents=True)
        except FileExistsError as error:
            raise UserError("already exists", file=name, remedy="choose another name") from error
        for file, text in files.items():
            (name / file).write_bytes(text.encode())
    say(f"Written: {', '.join(str(name / file) for file in files)}")
    say(f"Next: edit {name / 'complexity.py'}, then {typed('pgdl', 'check', str(name))}")
