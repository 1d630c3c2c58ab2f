"""`pgdl demo`: writes a small task and example submissions."""

import os
from pathlib import Path

import click

import pgdl
from harness.cli import options
from harness.printing import say
from harness.shell import typed


@click.command("demo")
@click.argument("directory", metavar="[DIR]", default="pgdl-demo", type=options.PATH)
def command(directory: Path) -> None:
    """Write a small task and example submissions to DIR (default: pgdl-demo), to try the other commands on.

    Example: pgdl demo && cd pgdl-demo && pgdl check submissions/input_gradient
    """
    from harness.api.starts import demo_commands

    models = pgdl.demo(directory)
    say(f"Written to {directory}: a task of {models} models, and example submissions. Next:", "")
    path = str(directory)
    if path.startswith("-"):  # else `cd` would take it for an option
        path = os.path.join(".", path)  # noqa: PTH118 - Path drops the point
    enter = [] if directory.resolve() == Path.cwd() else [f"cd {typed(path)}"]
    say(*(f"  {line}" for line in (*enter, *demo_commands())))
