"""`pgdl new`: a commented template that passes `pgdl check`."""

from pathlib import Path

import click

import pgdl
from harness.cli import options
from harness.printing import say
from harness.shell import typed


@click.command("new")
@click.argument("name", type=click.Path(path_type=Path))
@options.runtime
def command(name: Path, runtime: str | None) -> None:
    """Write a submission NAME/ with a commented complexity.py and metadata.

    Example: pgdl new my_measure --runtime torch
    """
    say(f"Written: {', '.join(map(str, pgdl.new(name, runtime)))}")
    say(f"Next: edit {name / 'complexity.py'}, then {typed('pgdl', 'check', str(name))}")
