"""Fixtures for tests of downloads."""

import os
import shutil
import ssl
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from in_process import Ended, Pgdl, in_process

from harness.fetch import catalogue as catalogues
from harness.fetch import remote, session
from tests.fetch.archives import TASKS, Fetch, Refusal, catalogue, make_archive
from tests.fetch.servers import Served, serve


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Served]:
    """A server of the directory `served`."""
    (tmp_path / "served").mkdir()
    with serve(tmp_path / "served") as served:
        yield served


@pytest.fixture(autouse=True)
def _settings(monkeypatch: pytest.MonkeyPatch, shared_cache: Path) -> None:
    """Repeat requests without a pause, use the tests' cache, and do not wait for the disk."""
    monkeypatch.setenv("PGDL_CACHE", str(shared_cache))
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setattr(session, "PAUSES_S", (0, 0, 0))
    monkeypatch.setattr(remote, "TAIL", 2000)
    monkeypatch.setattr(os, "fsync", lambda _: None)


@pytest.fixture
def pgdl(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Pgdl:
    """Return a function that runs the command line in an empty folder."""
    (tmp_path / "folder").mkdir()
    monkeypatch.chdir(tmp_path / "folder")
    return in_process(monkeypatch, capsys)


@pytest.fixture
def archive(server: Served) -> Path:
    """An archive of the task `tiny` on the server."""
    return make_archive(server.directory / "data.zip")


@pytest.fixture
def fetch(pgdl: Pgdl, server: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Fetch:
    """Return a function that runs `pgdl task fetch`, by default with a new catalogue of the server's archive.

    The catalogue replaces the catalogues of the package. `file` is another catalogue, which the test has written.
    """
    monkeypatch.setattr(catalogues, "CATALOGUES", tmp_path / "catalogues")

    def run(what: str = "small", *more: object, file: Path | None = None) -> Ended:
        if file is None:
            catalogue(tmp_path, server.url)
        return pgdl("task", "fetch", what, "--tasks", TASKS, *more)

    return run


@pytest.fixture
def refusal(fetch: Fetch) -> Refusal:
    """Return a function that runs a refused fetch, asserts that no task was written, and returns the error line."""

    def run(*arguments: object, file: Path | None = None) -> str:
        ended = fetch(*arguments, file=file)
        assert ended.code == 2, ended.err
        assert not (TASKS / "input_data").exists()
        line = ended.err.splitlines()[-1]
        assert [one for one in ended.err.splitlines() if one.startswith("pgdl: ")] == [line]
        return line

    return run


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file with certificate and key of the encrypted server."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl makes the certificate")
    file = tmp_path_factory.mktemp("certificate") / "cert.pem"
    names = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"]
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", *names]
    subprocess.run([*command, "-keyout", file, "-out", file], check=True, capture_output=True)
    return file


@pytest.fixture
def encrypted(certificate: Path, tmp_path: Path) -> Iterator[Served]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    (tmp_path / "safe").mkdir()
    with serve(tmp_path / "safe", context) as served:
        yield served
