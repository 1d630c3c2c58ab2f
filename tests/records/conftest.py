"""Fixtures of SQLite and PostgreSQL databases."""

import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest
from matrix import rest

from tests.records.servers import Server, serving


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    with serving() as server:
        yield server


@pytest.fixture(params=["sqlite", rest("postgresql")])
def location(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The location of a database without tables."""
    if request.param == "sqlite":
        return str(tmp_path / "results.db")
    server: Server = request.getfixturevalue("server")
    return server.new_database(f"d{secrets.token_hex(4)}")


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache for each test."""
    monkeypatch.setenv("PGDL_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail at once if a database fails, without waiting for its recovery."""
    monkeypatch.setattr("harness.records.connection.RECOVERY_S", 0.0)
