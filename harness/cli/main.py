"""Entry point of `pgdl`: finds the command's file only when it is asked for, prints errors in one line."""

import importlib
import signal
import sys
from typing import NoReturn

import click

from harness import __version__
from harness.errors import UserError

#: Command name -> one-line help; each lives in the module `harness.cli.NAME` as the object `command`.
COMMANDS = {
    "demo": "Lay out a small task and examples, to try the other commands on.",
    "new": "Write a commented template of a submission.",
    "check": "Try a submission on a few models.",
    "run": "Run submissions on every model of every task.",
    "score": "Score recorded runs or `.predict` files.",
    "board": "Print the leaderboard; write it to files if asked to.",
    "measures": "List the library's measures, or explain one.",
    "compare": "Run measures of the library on every model, and compare their scores.",
    "task": "List, show, validate and build tasks.",
    "doctor": "Say what this machine can do, and what mends the rest.",
}

EXIT_CODES = (
    "Exit codes: 0 fine, 1 some calls failed, 2 wrong usage or input, 130 interrupted. "
    "Options that all commands share are also environment variables, e.g. PGDL_TASKS for --tasks."
)


class LazyGroup(click.Group):
    """A group that imports a command's module only to run that command (`pgdl --help` stays instant)."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names in the order in which a user meets them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import `harness.cli.<name>` and return its `command`."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = importlib.import_module(f"harness.cli.{cmd_name}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands from the table above, without importing any of them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=LazyGroup, epilog=EXIT_CODES, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="pgdl")
def cli() -> None:
    """Predicting generalization in deep learning: run, score and rank complexity measures."""


def main() -> NoReturn:
    """Run the command line; a `UserError` ends it with one line and exit code 2, an interrupt with 130."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # being asked to end is being interrupted
    try:
        code = cli.main(prog_name="pgdl", standalone_mode=False)
    except UserError as error:
        click.echo(f"pgdl: {error}", err=True)
        sys.exit(2)
    except click.exceptions.Abort:
        click.echo("pgdl: interrupted", err=True)
        sys.exit(130)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    sys.exit(code if isinstance(code, int) else 0)
