"""`pgdl new`: writes a template of a submission, or a repository with a leaderboard."""

from pathlib import Path

import click

import pgdl
from harness.cli import options
from harness.printing import say
from harness.shell import typed


@click.command("new")
@click.argument("name", type=options.PATH)
@options.runtime
@click.option(
    "--ci", "harness", metavar="OWNER/REPOSITORY@COMMIT",
    help="Write a repository NAME/ whose pull requests are evaluated on GitHub, with this copy of the harness.",
)  # fmt: skip
def command(name: Path, runtime: str | None, harness: str | None) -> None:
    """Write a submission NAME/ with a commented complexity.py and metadata.

    With --ci, write the files of a git repository with a leaderboard instead: workflows for GitHub, a small task and an
    example of a submission.

    Example: pgdl new my_measure --runtime torch
    """
    if harness is not None:
        options.require_not_given({"runtime"}, "no framework goes with --ci")
        say(f"Written: {', '.join(map(str, pgdl.new_leaderboard(name, harness)))}, a task and a submission")
        say(f"Next: the steps in {name / 'README.md'}")
        return
    say(f"Written: {', '.join(map(str, pgdl.new(name, runtime)))}")
    say(f"Next: edit {typed(str(name / 'complexity.py'))}, then {typed('pgdl', 'check', str(name))}")
