"""Tests of secrets in the address of an archive or a proxy: no output and no file has them."""

import hashlib
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from in_process import Pgdl

from tests.canary import SECRET, require_hidden, require_unwritten
from tests.fetch.archives import TASKS
from tests.fetch.servers import Served


def secret(address: str) -> str:
    """Return the address with a password and a key."""
    return f"{address.replace('//', f'//me:{SECRET}@')}?signature={SECRET}"


def digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


@pytest.fixture(autouse=True)
def _nothing_is_written(tmp_path: Path) -> Iterator[None]:
    yield
    require_unwritten(tmp_path / "folder")


@pytest.mark.parametrize("content", ["right", "wrong", "missing"])
def test_of_an_archive(pgdl: Pgdl, server: Served, archive: Path, content: str) -> None:
    server.statuses = [404] if content == "missing" else []
    sha256 = digest(archive) if content == "right" else "0" * 64
    ended = pgdl("task", "fetch", secret(f"{server.url}/data.zip"), "--sha256", sha256, "--tasks", TASKS)
    assert ended.code == (0 if content == "right" else 2)
    require_hidden(ended, pgdl("task", "fetch", secret(f"{server.url}/data.zip"), "--tasks", TASKS))


@pytest.mark.parametrize("variable", ["http_proxy", "HTTPS_PROXY", "ALL_PROXY"])
@pytest.mark.parametrize("proxy", ["http://me:S3C@{}@proxy:1", "me:S3C@{}@proxy:1", "http://me:a/{}@proxy:1"])
def test_half_a_password_of_a_proxy_is_not_asked_of_a_name_server(
    pgdl: Pgdl, monkeypatch: pytest.MonkeyPatch, server: Served, variable: str, proxy: str
) -> None:
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    asked: list[object] = []
    monkeypatch.setenv(variable, proxy.format(SECRET))
    monkeypatch.setattr(socket, "getaddrinfo", lambda *of, **_: asked.append(of) or [])
    ended = pgdl("task", "fetch", f"{server.url}/data.zip", "--sha256", "0" * 64, "--tasks", TASKS)
    assert ended.code == 2
    assert ended.err.startswith(f"pgdl: {variable.upper()}: not an address, or one with several meanings")
    require_hidden(ended)
    assert asked == []


@pytest.mark.parametrize("proxy", ["http://me:{}@127.0.0.1:1", "http://me:{}@127.0.0.1:99999", "socks5://me:{}@h:1"])
def test_a_proxy_that_fails_keeps_its_password(
    pgdl: Pgdl, monkeypatch: pytest.MonkeyPatch, server: Served, proxy: str
) -> None:
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("http_proxy", proxy.format(SECRET))
    ended = pgdl("task", "fetch", f"{server.url}/data.zip", "--sha256", "0" * 64, "--tasks", TASKS)
    assert (ended.code, len(ended.err.splitlines())) == (2, 1)
    require_hidden(ended)
