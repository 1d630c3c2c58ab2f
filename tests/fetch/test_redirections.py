"""Where servers lead requests: every step is looked at before it is taken, and headers are not trusted."""

import shutil
import ssl
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from in_process import Pgdl

from tests.fetch.archives import catalogue, make_archive
from tests.fetch.servers import Served, serve
from tests.fetch.test_fetched_corpora import TASKS, fetch
from tests.fetch.test_refused_fetches import refusal


@pytest.fixture
def encrypted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    """A server with encryption, whose certificate is accepted."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl makes the certificate")
    key, certificate = tmp_path / "key.pem", tmp_path / "cert.pem"
    names = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"]
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", *names]
    subprocess.run([*command, "-keyout", key, "-out", certificate], check=True, capture_output=True)
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(certificate))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    (tmp_path / "safe").mkdir()
    with serve(tmp_path / "safe", context) as served:
        yield served


WAYS = pytest.mark.parametrize("more", [(), ("--whole",)], ids=["parts", "whole"])


@WAYS
def test_a_way_without_encryption_is_not_taken_even_if_it_leads_back(
    pgdl: Pgdl, server: Served, encrypted: Served, tmp_path: Path, more: tuple[str, ...]
) -> None:
    make_archive(encrypted.directory / "other.zip")
    encrypted.redirect_to = server.url
    server.redirect_to = encrypted.url
    line = refusal(pgdl, catalogue(tmp_path, encrypted.url), "small", *more)
    assert "leads to an address without encryption: found http://127.0.0.1" in line
    assert server.asked == 0


@WAYS
def test_a_way_to_encryption_is_taken(
    pgdl: Pgdl, server: Served, encrypted: Served, tmp_path: Path, more: tuple[str, ...]
) -> None:
    make_archive(encrypted.directory / "data.zip")
    server.redirect_to = encrypted.url
    assert fetch(pgdl, catalogue(tmp_path, server.url), "small", *more).code == 0
    assert (TASKS / "input_data" / "tiny").is_dir()


@WAYS
@pytest.mark.parametrize(
    "location",
    ["http://[", "http://a:b/", "http://\xff/", "file:///etc/passwd", "ftp://127.0.0.1/", "data:,x"],
)
def test_a_way_to_no_address_is_one_line(
    pgdl: Pgdl, server: Served, tmp_path: Path, location: str, more: tuple[str, ...]
) -> None:
    server.redirect_to = location
    server.headers = {"Location": location}
    line = refusal(pgdl, catalogue(tmp_path, server.url), "small", *more)
    assert "leads to no address: found " in line
    assert line.isprintable()


def test_an_answer_that_leads_elsewhere_is_not_read(pgdl: Pgdl, server: Served, tmp_path: Path) -> None:
    """It promises more than it sends: whoever read it would wait, and then find it cut off."""
    server.redirect_to = "ftp://127.0.0.1"
    server.headers = {"Content-Length": str(10**12)}
    assert "leads to no address" in refusal(pgdl, catalogue(tmp_path, server.url), "small", "--whole")


@pytest.mark.parametrize("length", ["abc", "-5", "\xb2", "1e3", "9" * 30, "5, 6", ""])
def test_a_length_that_is_no_number_is_one_line(pgdl: Pgdl, server: Served, tmp_path: Path, length: str) -> None:
    make_archive(server.directory / "data.zip")
    server.headers = {"Content-Length": length}
    line = refusal(pgdl, catalogue(tmp_path, server.url), "small", "--whole")
    assert "Content-Length" in line
    assert line.isprintable()


@pytest.mark.parametrize("position", ["bytes 0-9/x", "bytes \u0665-6/7", "", "bytes 0-9/" + "9" * 30])
def test_a_part_without_a_position_is_one_line(pgdl: Pgdl, server: Served, tmp_path: Path, position: str) -> None:
    make_archive(server.directory / "data.zip")
    server.headers = {"Content-Range": position.encode().decode("latin1")}
    assert "Content-Range: expected bytes FIRST-LAST/SIZE" in refusal(pgdl, catalogue(tmp_path, server.url))


def test_a_version_cannot_control_a_terminal(pgdl: Pgdl, server: Served, tmp_path: Path) -> None:
    make_archive(server.directory / "data.zip")
    server.headers = {"ETag": "\x9b31m" + "x" * 1000}
    assert fetch(pgdl, catalogue(tmp_path, server.url)).code == 0
    assert '"?31mx' in (TASKS / "reference_data" / "tiny" / "fetched.json").read_text()
