"""Tests of the password of a PostgreSQL server: it is in nothing that commands print, write or start."""

import secrets
import socket
from collections.abc import Callable
from pathlib import Path

import pytest
from in_process import Ended, Pgdl, in_process

from harness.records import Records
from tests.board.board_examples import rows
from tests.canary import SECRET, require_hidden, require_unwritten, started
from tests.ci.repositories import Repo
from tests.records.evaluation_rows import request
from tests.records.servers import Server
from tests.throwaway import make_task

pytestmark = pytest.mark.rest

Commands = Callable[[str], list[Ended]]


@pytest.fixture
def pgdl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Pgdl:
    """Return a function that runs the command line in an empty folder and an empty home."""
    for name in ("folder", "home"):
        (tmp_path / name).mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path / "folder")
    return in_process(monkeypatch, capsys)


@pytest.fixture
def commands(pgdl: Pgdl, tmp_path: Path) -> Commands:
    """Return a function that runs every command that needs records, with the URL as an option and in PGDL_RESULTS."""
    make_task(Path("task_data"))
    Repo(tmp_path / "folder").commit({"submissions/README.md": ""}, branch="main")

    def run(url: str) -> list[Ended]:
        asked = [
            ["board", "--html", "site", "--output", "files"], ["score"], ["score", "nobody"],
            ["report", "--html", "pages"], ["results"], ["compare", "--recorded"],
            ["ci", "--head", "main"],
            *(["board", "--format", form] for form in ("json", "csv", "markdown", "latex")),
            *(["results", "--format", form] for form in ("json", "csv")),
        ]  # fmt: skip
        ended = [pgdl(*command, "--results", url) for command in asked]
        with pytest.MonkeyPatch.context() as environment:
            environment.setenv("PGDL_RESULTS", url)
            ended += [pgdl(*command) for command in asked]
        return [*ended, pgdl("ci", "--head", "main", "--add-records", url)]

    return run


def with_password(url: str) -> str:
    return url.replace("postgres@", f"postgres:{SECRET}@")


@pytest.fixture
def url(server: Server) -> str:
    """Address of a database that has a submission's records on models that have changed since."""
    url = with_password(server.new_database(f"d{secrets.token_hex(4)}"))
    made = rows("mine", task="tiny")
    asked = [request(made[0])]
    with Records(url) as records:
        records.add(*made)
        records.ask(asked)
    return url


def test_of_commands_that_succeed(
    url: str, commands: Commands, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with started(monkeypatch) as arguments:
        ended = commands(url)
    assert {one.code for one in ended} >= {0}
    assert any('--results "${PGDL_RESULTS:?its address}"' in one.out for one in ended)
    require_hidden(*ended)
    require_unwritten(tmp_path)
    assert [one for one in arguments if SECRET in one] == []


@pytest.mark.parametrize("fault", ["no database", "no such parameter", "no server", "a wrong value"])
def test_of_commands_that_fail(server: Server, commands: Commands, tmp_path: Path, fault: str) -> None:
    usual = with_password(server.url)
    ended = commands({
        "no database": usual.replace("/postgres?", f"/none?password={SECRET}&"),
        "no such parameter": f"{usual}&{SECRET}=x&sslpassword={SECRET}",
        "no server": f"postgresql+psycopg://me:{SECRET}@127.0.0.1:1/name",
        "a wrong value": f"{usual}&sslmode={SECRET}",
    }[fault])  # fmt: skip
    assert {one.code for one in ended} == {2}
    assert {len(one.err.splitlines()) for one in ended} == {1}
    require_hidden(*ended)
    require_unwritten(tmp_path)


def test_half_a_password_is_not_asked_of_a_name_server(commands: Commands, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []
    monkeypatch.setattr(socket, "getaddrinfo", lambda *of, **_: asked.append(of) or [])
    ended = commands(f"postgresql+psycopg://me:S3C@{SECRET}@127.0.0.1:1/name")
    assert {one.code for one in ended} == {2}
    assert all("write %40 for @" in one.err for one in ended)
    require_hidden(*ended)
    assert asked == []


def test_of_a_command_that_ends_in_a_bug(url: str, pgdl: Pgdl, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError(f"cannot read {url}")

    monkeypatch.setattr(Records, "distinct", fail)
    ended = pgdl("results", "--submission", "mine", "--results", url)
    assert (ended.code, "Traceback" in ended.err) == (70, True)
    require_hidden(ended)
