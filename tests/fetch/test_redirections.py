"""Tests of redirections: every address is checked before it is requested, and headers are not trusted."""

from pathlib import Path

import pytest

from tests.fetch.archives import TASKS, Fetch, Refusal, catalogue, make_archive
from tests.fetch.servers import Served


@pytest.fixture(autouse=True)
def _accepted(certificate: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Accept the certificate of the encrypted server."""
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(certificate))


WAYS = pytest.mark.parametrize("more", [(), ("--whole",)], ids=["parts", "whole"])


@WAYS
def test_a_way_without_encryption_is_not_taken_even_if_it_leads_back(
    refusal: Refusal, server: Served, encrypted: Served, tmp_path: Path, more: tuple[str, ...]
) -> None:
    make_archive(encrypted.directory / "other.zip")
    encrypted.redirect_to = server.url
    server.redirect_to = encrypted.url
    line = refusal("small", *more, file=catalogue(tmp_path, encrypted.url))
    assert "leads to an address without encryption: found http://127.0.0.1" in line
    assert server.asked == 0


@WAYS
def test_a_way_to_encryption_is_taken(fetch: Fetch, server: Served, encrypted: Served, more: tuple[str, ...]) -> None:
    make_archive(encrypted.directory / "data.zip")
    server.redirect_to = encrypted.url
    assert fetch("small", *more).code == 0
    assert (TASKS / "input_data" / "tiny").is_dir()


@WAYS
@pytest.mark.parametrize(
    "location", ["http://[", "http://a:b/", "http://\xff/", "file:///etc/passwd", "ftp://127.0.0.1/", "data:,x"]
)
def test_a_way_to_no_address_is_one_line(
    refusal: Refusal, server: Served, location: str, more: tuple[str, ...]
) -> None:
    server.redirect_to = location
    server.headers = {"Location": location}
    line = refusal("small", *more)
    assert "leads to no address: found " in line
    assert line.isprintable()


def test_an_answer_that_leads_elsewhere_is_not_read(refusal: Refusal, server: Served) -> None:
    """The answer announces more bytes than it sends: reading it would take long, and end with an error."""
    server.redirect_to = "ftp://127.0.0.1"
    server.headers = {"Content-Length": str(10**12)}
    assert "leads to no address" in refusal("small", "--whole")


@pytest.mark.parametrize("length", ["abc", "-5", "\xb2", "1e3", "9" * 30, "5, 6", ""])
def test_a_length_that_is_no_number_is_one_line(refusal: Refusal, server: Served, archive: Path, length: str) -> None:
    server.headers = {"Content-Length": length}
    line = refusal("small", "--whole")
    assert "Content-Length" in line
    assert line.isprintable()


@pytest.mark.parametrize("position", ["bytes 0-9/x", "bytes \u0665-6/7", "", "bytes 0-9/" + "9" * 30])
def test_a_part_without_a_position_is_one_line(refusal: Refusal, server: Served, archive: Path, position: str) -> None:
    server.headers = {"Content-Range": position.encode().decode("latin1")}
    assert "Content-Range: expected bytes FIRST-LAST/SIZE" in refusal()


def test_a_version_cannot_control_a_terminal(fetch: Fetch, server: Served, archive: Path) -> None:
    server.headers = {"ETag": "\x9b31m" + "x" * 1000}
    assert fetch().code == 0
    assert '"?31mx' in (TASKS / "reference_data" / "tiny" / "fetched.json").read_text()
