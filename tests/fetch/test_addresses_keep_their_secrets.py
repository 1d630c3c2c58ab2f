"""Tests of secrets in the address of an archive, a catalogue or a proxy: no output and no file has them."""

import hashlib
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from in_process import Ended, Pgdl

from harness.fetch import staging
from tests.canary import SECRET, require_hidden, require_unwritten
from tests.fetch.archives import TASKS, catalogue
from tests.fetch.servers import Served


def secret(address: str) -> str:
    """Return the address with a password and a key."""
    return f"{address.replace('//', f'//me:{SECRET}@')}?signature={SECRET}"


def digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


@pytest.fixture
def known(server: Served, archive: Path) -> Path:
    """A catalogue on the server whose archive's address contains a secret."""
    file = catalogue(server.directory, server.url)
    file.write_text(file.read_text().replace(f"{server.url}/data.zip", secret(f"{server.url}/data.zip")))
    return file


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


def of_catalogue(pgdl: Pgdl, server: Served, known: Path, *more: object) -> Ended:
    address = secret(f"{server.url}/small.toml")
    return pgdl("task", "fetch", "small", "--catalogue", address, "--sha256", digest(known), "--tasks", TASKS, *more)


@pytest.mark.parametrize("more", [[], ["--whole"], ["--format", "json"]], ids=["parts", "whole", "JSON"])
def test_of_a_catalogue_and_what_it_names(pgdl: Pgdl, server: Served, known: Path, more: list[str]) -> None:
    ended = of_catalogue(pgdl, server, known, *more)
    assert ended.code == 0
    listed = pgdl("task", "known", "--catalogue", known, "--format", "json")
    require_hidden(ended, listed, pgdl("task", "show", TASKS, "--format", "json"), pgdl("task", "show", TASKS))
    assert f'"url": "{server.url}/data.zip"' in listed.out


@pytest.mark.parametrize("whole", [[], ["--whole"]], ids=["parts", "whole"])
def test_of_a_fetch_that_is_to_be_continued(
    pgdl: Pgdl, server: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, known: Path, whole: list[str]
) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(staging.StagedTask, "add", interrupt)
        assert of_catalogue(pgdl, server, known, *whole).code == 130
    assert (TASKS / ".fetching" / "tiny").is_dir()
    require_unwritten(tmp_path / "folder")
    ended = pgdl("task", "list", TASKS)
    flag = " --whole" if whole else ""
    assert f"pgdl task fetch small/tiny{flag} --tasks tasks, and the same --catalogue as before" in ended.err
    require_hidden(ended)
    assert of_catalogue(pgdl, server, known).code == 0


@pytest.mark.parametrize("key", ["url", "adress", "sha256"])
def test_of_a_catalogue_with_a_mistake(pgdl: Pgdl, tmp_path: Path, known: Path, key: str) -> None:
    """Error messages quote the wrong text, but no address."""
    wrong = f'{key} = "ftp://me:{SECRET}@host/x?signature={SECRET}"'
    file = tmp_path / "wrong.toml"
    file.write_text("\n".join(wrong if line.startswith("url") else line for line in known.read_text().splitlines()))
    ended = pgdl("task", "fetch", "small", "--catalogue", file, "--tasks", TASKS)
    assert (ended.code, len(ended.err.splitlines())) == (2, 1)
    require_hidden(ended)


@pytest.mark.parametrize("variable", ["http_proxy", "HTTPS_PROXY", "ALL_PROXY"])
@pytest.mark.parametrize("proxy", ["http://me:S3C@{}@proxy:1", "me:S3C@{}@proxy:1", "http://me:a/{}@proxy:1"])
def test_half_a_password_of_a_proxy_is_not_asked_of_a_name_server(
    pgdl: Pgdl, monkeypatch: pytest.MonkeyPatch, known: Path, variable: str, proxy: str
) -> None:
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    asked: list[object] = []
    monkeypatch.setenv(variable, proxy.format(SECRET))
    monkeypatch.setattr(socket, "getaddrinfo", lambda *of, **_: asked.append(of) or [])
    ended = pgdl("task", "fetch", "small", "--catalogue", known, "--tasks", TASKS)
    assert ended.code == 2
    assert ended.err.startswith(f"pgdl: {variable.upper()}: not an address, or one with several meanings")
    require_hidden(ended)
    assert asked == []


@pytest.mark.parametrize("proxy", ["http://me:{}@127.0.0.1:1", "http://me:{}@127.0.0.1:99999", "socks5://me:{}@h:1"])
def test_a_proxy_that_fails_keeps_its_password(
    pgdl: Pgdl, monkeypatch: pytest.MonkeyPatch, known: Path, proxy: str
) -> None:
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("http_proxy", proxy.format(SECRET))
    ended = pgdl("task", "fetch", "small", "--catalogue", known, "--tasks", TASKS)
    assert (ended.code, len(ended.err.splitlines())) == (2, 1)
    require_hidden(ended)
