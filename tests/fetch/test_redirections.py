"""Tests of redirections: every address is checked before it is requested, and headers are not trusted."""

from collections.abc import Callable
from pathlib import Path

import pytest
from in_process import Ended, Pgdl

from harness.digest import digest_of_file
from tests.fetch.archives import TASKS, Fetch, catalogue, make_archive


@pytest.fixture(autouse=True)
def _accepted(certificate: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Accept the certificate of the encrypted server."""
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(certificate))


@pytest.fixture(params=["parts", "whole"])
def ask(request: pytest.FixtureRequest, pgdl: Pgdl, fetch: Fetch, tmp_path: Path) -> Callable[..., Ended]:
    """Return a function that fetches a task from a server: by parts of the archive, or from the whole archive."""

    def run(url: str, sha256: str = "0" * 64) -> Ended:
        if request.param == "parts":
            return fetch(file=catalogue(tmp_path, url))
        return pgdl("task", "fetch", f"{url}/data.zip", "--sha256", sha256, "--tasks", TASKS)

    return run


def test_a_way_without_encryption_is_not_taken_even_if_it_leads_back(ask, server, encrypted):
    make_archive(encrypted.directory / "other.zip")
    encrypted.redirect_to = server.url
    server.redirect_to = encrypted.url
    assert "leads to an address without encryption: found http://127.0.0.1" in ask(encrypted.url).refusal()
    assert server.asked == 0


def test_a_way_to_encryption_is_taken(ask, server, encrypted):
    archive = make_archive(encrypted.directory / "data.zip")
    server.redirect_to = encrypted.url
    assert ask(server.url, digest_of_file(archive)).code == 0
    assert (TASKS / "input_data" / "tiny").is_dir()


@pytest.mark.parametrize(
    "location", ["http://[", "http://a:b/", "http://\xff/", "file:///etc/passwd", "ftp://127.0.0.1/", "data:,x"]
)
def test_a_redirection_to_no_address_is_one_line(ask, server, location):
    """The answer announces more bytes than it sends: reading it would take long, and end with an error."""
    server.redirect_to = location
    server.headers = {"Location": location, "Content-Length": str(10**12)}
    line = ask(server.url).refusal()
    assert "leads to no address: found " in line
    assert line.rstrip().isprintable()


@pytest.mark.parametrize("length", ["abc", "-5", "\xb2", "1e3", "9" * 30, "5, 6", ""])
def test_a_length_that_is_no_number_is_one_line(pgdl, server, archive, length):
    server.headers = {"Content-Length": length}
    ended = pgdl("task", "fetch", f"{server.url}/data.zip", "--sha256", "0" * 64, "--tasks", TASKS)
    assert "Content-Length" in ended.refusal()
    assert ended.err.rstrip().isprintable()


@pytest.mark.parametrize("position", ["bytes 0-9/x", "bytes \u0665-6/7", "", "bytes 0-9/" + "9" * 30])
def test_a_part_without_a_position_is_one_line(refusal, server, archive, position):
    server.headers = {"Content-Range": position.encode().decode("latin1")}
    assert "Content-Range: expected bytes FIRST-LAST/SIZE" in refusal()


def test_a_version_cannot_control_a_terminal(fetch, server, archive):
    server.headers = {"ETag": "\x9b31m" + "x" * 1000}
    assert fetch().code == 0
    assert '"?31mx' in (TASKS / "reference_data" / "tiny" / "fetched.json").read_text()
