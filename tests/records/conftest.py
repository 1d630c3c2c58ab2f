"""Fixtures of SQLite and PostgreSQL databases."""

import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest
from matrix import rest

from harness.records import Records
from tests.records.evaluation_rows import evaluation, request
from tests.records.servers import Server, serving


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    with serving() as server:
        yield server


@pytest.fixture(params=["sqlite", rest("postgresql")])
def location(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return str(tmp_path / "results.db")
    server: Server = request.getfixturevalue("server")
    return server.new_database(f"d{secrets.token_hex(4)}")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """An SQLite database with a record and a request."""
    file = tmp_path / "results.db"
    with Records(str(file)) as records:
        records.add(evaluation())
        records.ask([request(evaluation())])
    return file


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PGDL_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail at once if a database fails, without waiting for its recovery."""
    monkeypatch.setattr("harness.records.connection.RECOVERY_S", 0.0)
