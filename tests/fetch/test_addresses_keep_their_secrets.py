"""Tests of secrets in the address of an archive or a proxy: no output and no file has them."""

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.digest import digest_of_file
from tests.canary import SECRET, require_hidden, require_unwritten
from tests.fetch.archives import TASKS


def secret(address: str) -> str:
    """Return the address with a password and a key."""
    return f"{address.replace('//', f'//me:{SECRET}@')}?signature={SECRET}"


@pytest.fixture(autouse=True)
def _nothing_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let proxies of the environment count for every host; look at all files after the test."""
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    yield
    require_unwritten(tmp_path / "folder")


@pytest.mark.parametrize("content", ["right", "wrong", "missing"])
def test_of_an_archive(pgdl, server, archive, content):
    server.statuses = [404] if content == "missing" else []
    sha256 = digest_of_file(archive) if content == "right" else "0" * 64
    ended = pgdl("task", "fetch", secret(f"{server.url}/data.zip"), "--sha256", sha256, "--tasks", TASKS)
    assert ended.code == (0 if content == "right" else 2)
    said = "cannot be fetched: expected 200 OK, found 404 Not Found; check the address\n"
    assert (ended.err == f"pgdl: {server.url}/data.zip: {said}") == (content == "missing")
    require_hidden(ended, pgdl("task", "fetch", secret(f"{server.url}/data.zip"), "--tasks", TASKS))


@pytest.mark.parametrize("variable", ["http_proxy", "HTTPS_PROXY", "ALL_PROXY"])
@pytest.mark.parametrize("proxy", ["http://me:S3C@{}@proxy:1", "me:S3C@{}@proxy:1", "http://me:a/{}@proxy:1"])
def test_half_a_password_of_a_proxy_is_not_asked_of_a_name_server(pgdl, monkeypatch, server, variable, proxy):
    asked: list[object] = []
    monkeypatch.setenv(variable, proxy.format(SECRET))
    monkeypatch.setattr(socket, "getaddrinfo", lambda *of, **_: asked.append(of) or [])
    ended = pgdl("task", "fetch", f"{server.url}/data.zip", "--sha256", "0" * 64, "--tasks", TASKS)
    assert ended.code == 2
    assert ended.err.startswith(f"pgdl: {variable.upper()}: not an address, or one with several meanings")
    require_hidden(ended)
    assert asked == []


@pytest.mark.parametrize(
    ("proxy", "said"),
    [
        ("http://me:{}@127.0.0.1:1", "the proxy does not answer, or refuses: found 127.0.0.1:1; HTTPS_PROXY"),
        ("http://me:{}@127.0.0.1:99999", ""),
        ("socks5://me:{}@h:1", ""),
    ],
)
def test_a_proxy_that_fails_keeps_its_password(pgdl, monkeypatch, server, proxy, said):
    monkeypatch.setenv("http_proxy", proxy.format(SECRET))
    ended = pgdl("task", "fetch", f"{server.url}/data.zip", "--sha256", "0" * 64, "--tasks", TASKS)
    assert said in ended.refusal()
    require_hidden(ended)
