"""`pgdl records`: bring the results of an earlier version to the present one."""

import click

from harness.cli import options
from harness.credentials import Address
from harness.printing import say


@click.group(name="records")
def command() -> None:
    """Look after the database of recorded calls.

    pgdl results prints the calls.
    """


@command.command()
@options.results
@click.option("--no-copy", is_flag=True, help="Make no copy first; needed for a database on a server.")
def upgrade(results: Address, no_copy: bool) -> None:
    """Bring the tables of an earlier version to the present one: whole, or not at all.

    Commands that only read, such as pgdl board, can also read earlier versions. An SQLite file is copied first.

    Example: pgdl records upgrade --results results.db
    """
    from harness.records import upgrade as to_present

    done = to_present(results, copy=not no_copy)
    if done.before == done.after:
        say(f"{done.name}: its tables are of the present version, {done.after}; nothing is changed")
        return
    if done.copy is not None:
        say(f"Copied to {done.copy}")
    say(f"{done.name}: tables of version {done.before} are now of version {done.after}")
