"""All commands and options of `pgdl`, for tests of what they share."""

from collections.abc import Iterator

import click

from harness.cli.main import cli

Words = tuple[str, ...]


def every_command(group: click.Group = cli, words: Words = ()) -> Iterator[tuple[Words, click.Command]]:
    """Yield (words that call it, command) for every command except groups."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from every_command(command, (*words, name))
        elif command is not None:
            yield (*words, name), command
