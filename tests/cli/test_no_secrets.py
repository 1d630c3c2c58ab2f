"""Tests that a password in an address is in no output and no file of any command, whichever parameter has it."""

from pathlib import Path

import click
import pytest
from in_process import Pgdl

from harness.cli.options import parse_address
from harness.records import Records
from tests.board.board_examples import rows
from tests.canary import SECRET, require_hidden
from tests.ci.repositories import Repo
from tests.cli.every_command import every_command
from tests.records.evaluation_rows import request
from tests.throwaway import make_task

#: SQLite itself ignores unknown parameters.
LOCATION = f"sqlite:///file:results.db?uri=true&password={SECRET}"


@pytest.fixture
def stale(folder: Path) -> None:
    """Records of a submission on models that have changed since, so that a command to renew the records is printed."""
    make_task(folder / "task_data")
    made = rows("mine", task="tiny")
    asked = [request(made[0], source="/home/jane_doe/mine.py")]
    with Records(LOCATION) as records:
        records.add(*made)
        records.ask(asked)


@pytest.mark.usefixtures("stale")
def test_commands_that_read_records(pgdl: Pgdl, folder: Path) -> None:
    commands = [
        ["board", "--html", "site", "--output", "files"], ["score"], ["score", "nobody"],
        ["report", "mine", "--html", "pages"],
        ["results"],
        *(["board", "--format", form] for form in ("json", "csv", "markdown", "latex")),
        ["score", "--format", "json"], ["results", "--format", "csv"],
    ]  # fmt: skip
    said = ""
    for command in commands:
        ended = pgdl(*command, "--results", LOCATION)
        said += ended.out + ended.err
    assert SECRET not in said
    assert '/home/jane_doe/mine.py --as mine --results "${PGDL_RESULTS:?its address}"' in said
    written = [file for where in ("site", "files", "pages") for file in (folder / where).rglob("*") if file.is_file()]
    assert len(written) > 10
    secrets = SECRET.encode(), b"jane_doe", b"PGDL_RESULTS"  # files for publication have no command with paths
    assert [file for file in written if any(secret in file.read_bytes() for secret in secrets)] == []


LOCATIONS = [
    f"postgresql+psycopg://me:{SECRET}@127.0.0.1:1/none", f"sqlite:///results.db?password={SECRET}",
    f"postgresql:/me:{SECRET}@host/name", f"postgresql+nothing://me:{SECRET}@host/name",
    f"postgresql://me:{SECRET}@host:port/name", f"://me:{SECRET}@", f"sqlite:///missing/x.db?password={SECRET}",
    f"sqlite:////proc/none/x?uri=true&password={SECRET}", f"postgresql+psycopg:me:{SECRET}@host/name",
    f"me:{SECRET}@host/name", f"file:results.db?password={SECRET}",
]  # fmt: skip


@pytest.mark.parametrize("location", LOCATIONS)
@pytest.mark.usefixtures("stale")
def test_errors(location: str, pgdl: Pgdl) -> None:
    assert SECRET not in pgdl("board", "--results", location).refusal()


@pytest.mark.usefixtures("stale")
def test_where_a_file_is_expected(pgdl: Pgdl, folder: Path) -> None:
    Repo(folder).commit({"submissions/README.md": ""}, branch="main")
    for location in LOCATIONS[:3]:
        said = pgdl("ci", "--head", "main", "--add-records", location).refusal()
        assert said.startswith(("pgdl: postgresql", "pgdl: sqlite", "pgdl: --add-records: not an address"))
        assert SECRET not in said


#: Inspects the machine for seconds, whatever else is wrong; the address of a cluster is looked at first.
SLOW = {"doctor": ["--executor", "ray"]}

ADDRESSES = [f"postgresql+psycopg://me:S3C@{SECRET}@127.0.0.1:1/x", f"postgresql+psycopg://me:{SECRET}@127.0.0.1:1/x"]


EVERY = dict(every_command())


def takes_text(parameter: click.Parameter) -> bool:
    return not (isinstance(parameter, click.Option) and (parameter.is_flag or parameter.name == "help"))


def line(words: tuple[str, ...], command: click.Command, chosen: click.Parameter, value: str) -> list[str]:
    """Return a command line with `value` for the parameter `chosen`, and `x` for all other required parameters."""
    found = [*words, *SLOW.get(words[0], [])]
    for parameter in command.params:
        if parameter is chosen or parameter.required:
            found += [parameter.opts[0]] if isinstance(parameter, click.Option) else []
            found.append(value if parameter is chosen else "x")
    return found


@pytest.mark.rest
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
    """Parameters for addresses are recognized by the word URL in their metavar."""
    parameters = [(words, parameter) for words, command in EVERY.items() for parameter in command.params]
    parsed = {(words, one.name) for words, one in parameters if one.callback is parse_address}
    assert {(words, one.name) for words, one in parameters if "URL" in str(one.metavar)} <= parsed
    assert {name for _, name in parsed} == {"results", "added", "what", "page", "source"}
