"""An address with a password is repeated by no parameter of any command: people mistake one parameter for another."""

from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from harness.cli.main import cli
from harness.cli.options import parse_address, parse_addresses
from tests.canary import SECRET, require_hidden
from tests.in_process import Pgdl

#: Inspects the machine for seconds, whatever else is wrong; the address of a cluster is looked at first.
SLOW = {"doctor": ["--executor", "ray"]}

ADDRESSES = [f"postgresql+psycopg://me:S3C@{SECRET}@127.0.0.1:1/x", f"postgresql+psycopg://me:{SECRET}@127.0.0.1:1/x"]


def commands(group: click.Group = cli, words: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Every command with the words that call it."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from commands(command, (*words, name))
        elif command is not None:
            yield (*words, name), command


EVERY = dict(commands())


def takes_text(parameter: click.Parameter) -> bool:
    return not (isinstance(parameter, click.Option) and (parameter.is_flag or parameter.name == "help"))


def line(words: tuple[str, ...], command: click.Command, chosen: click.Parameter, value: str) -> list[str]:
    """The words of a command with one parameter, and something for all others that it needs."""
    found = [*words, *SLOW.get(words[0], [])]
    for parameter in command.params:
        if parameter is chosen or parameter.required:
            found += [parameter.opts[0]] if isinstance(parameter, click.Option) else []
            found.append(value if parameter is chosen else "x")
    return found


@pytest.mark.parametrize("words", EVERY, ids=" ".join)
def test_of_no_parameter_is_a_password_repeated(
    pgdl: Pgdl, folder: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    command = EVERY[words]
    for parameter in filter(takes_text, command.params):
        if words[0] in SLOW and parameter.name != "ray_address":
            continue
        for address in ADDRESSES:
            require_hidden(pgdl(*line(words, command, parameter, address)))
            if parameter.envvar is not None:
                with monkeypatch.context() as environment:
                    environment.setenv(str(parameter.envvar), address)
                    require_hidden(pgdl(*line(words, command, click.Argument(["none"]), "")))


def test_every_parameter_for_an_address_is_parsed_as_one() -> None:
    """A parameter for an address says URL in its help."""
    taking = {
        (words, parameter.name)
        for words, command in EVERY.items()
        for parameter in command.params
        if "URL" in str(parameter.metavar)
    }
    parsed = {
        (words, parameter.name)
        for words, command in EVERY.items()
        for parameter in command.params
        if parameter.callback in (parse_address, parse_addresses)
    }
    assert taking <= parsed
    assert {name for _, name in parsed} == {"results", "added", "what", "catalogue", "page", "source"}
