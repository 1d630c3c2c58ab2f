"""A password in `--results` is in no output and no file of any command; a canary stands for it."""

from pathlib import Path

import pytest
from in_process import Pgdl

from harness.records import Records
from tests.board.board_examples import rows
from tests.ci.repositories import Repo
from tests.records.evaluation_rows import request
from tests.throwaway import make_task

SECRET = "canary4711"

#: SQLite itself ignores parameters that it does not know.
LOCATION = f"sqlite:///file:results.db?uri=true&password={SECRET}"


@pytest.fixture
def stale(folder: Path) -> None:
    """Records of a submission on models that are not there any more, so that a command to renew them is printed."""
    make_task(folder / "task_data")
    made = rows("mine", task="tiny")
    asked = [request(made[0])]
    with Records(LOCATION) as records:
        records.add(*made)
        records.ask(asked)


@pytest.mark.usefixtures("stale")
def test_commands_that_read_records(pgdl: Pgdl, folder: Path) -> None:
    commands = [
        ["board", "--html", "site", "--output", "files"], ["score"], ["score", "nobody"], ["report", "mine"],
        ["results"],
        *(["board", "--format", form] for form in ("json", "csv", "markdown", "latex")),
        ["score", "--format", "json"], ["results", "--format", "csv"],
    ]  # fmt: skip
    said = ""
    for command in commands:
        ended = pgdl(*command, "--results", LOCATION)
        said += ended.out + ended.err
    assert SECRET not in said
    assert '--results "${PGDL_RESULTS:?its address}"' in said
    written = [file for where in ("site", "files") for file in (folder / where).rglob("*") if file.is_file()]
    assert len(written) > 10
    assert [file for file in written if SECRET.encode() in file.read_bytes()] == []


@pytest.mark.parametrize(
    "location",
    [
        f"postgresql+psycopg://me:{SECRET}@127.0.0.1:1/none", f"postgresql+nothing://me:{SECRET}@host/name",
        f"postgresql://me:{SECRET}@host:port/name", f"://me:{SECRET}@", f"sqlite:///missing/x.db?password={SECRET}",
        f"sqlite:////proc/none/x?uri=true&password={SECRET}", f"sqlite:///results.db?password={SECRET}",
        f"postgresql:/me:{SECRET}@host/name", f"postgresql+psycopg:me:{SECRET}@host/name", f"me:{SECRET}@host/name",
        f"file:results.db?password={SECRET}",
    ],
)  # fmt: skip
@pytest.mark.usefixtures("stale")
def test_errors(location: str, pgdl: Pgdl) -> None:
    ended = pgdl("board", "--results", location)
    assert (ended.code, len(ended.err.splitlines())) == (2, 1)
    assert SECRET not in ended.out + ended.err


@pytest.mark.parametrize(
    "location",
    [
        f"postgresql+psycopg://me:{SECRET}@127.0.0.1:1/none", f"sqlite:///results.db?password={SECRET}",
        f"postgresql:/me:{SECRET}@host/name",
    ],
)  # fmt: skip
@pytest.mark.usefixtures("stale")
def test_where_a_file_is_expected(location: str, pgdl: Pgdl, folder: Path) -> None:
    Repo(folder).commit({"submissions/README.md": ""}, branch="main")
    ended = pgdl("ci", "--head", "main", "--add-records", location)
    assert (ended.code, len(ended.err.splitlines())) == (2, 1)
    assert ended.err.startswith(("pgdl: postgresql", "pgdl: sqlite", "pgdl: --add-records: not an address"))
    assert SECRET not in ended.out + ended.err
