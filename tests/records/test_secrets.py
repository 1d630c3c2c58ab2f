"""Tests that no password of an address is printed or written."""

import copy
import json
import subprocess

import hypothesis.strategies as st
import pytest
from hypothesis import given
from sqlalchemy import URL

from harness.api.commands import results_option
from harness.credentials import Address
from harness.errors import UserError
from harness.text import without_passwords

SECRET = "canary4711"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("results.db", "results.db"),
        ("sqlite:///a/b.db", "sqlite:///a/b.db"),
        ("sqlite:////a/x@y:z.db", "sqlite:////a/x@y:z.db"),
        (f"sqlite:///file:x.db?uri=true&password={SECRET}", "sqlite:///file:x.db?***"),
        ("postgresql+psycopg://host/name", "postgresql+psycopg://host/name"),
        ("postgresql+psycopg://me@[::1]:5/name", "postgresql+psycopg://me@[::1]:5/name"),
        (f"postgresql+psycopg://me:{SECRET}@host:1/name", "postgresql+psycopg://me:***@host:1/name"),
        (f"postgresql+psycopg://me:{SECRET}%40x@host:1/name", "postgresql+psycopg://me:***@host:1/name"),
        (f"postgresql://host/name?user=me&password={SECRET}", "postgresql://host/name?***"),
        (f"postgresql://host/name?password=x&{SECRET}", "postgresql://host/name?***"),
        (f"https://me:{SECRET}@host:80/a/b.zip?signature={SECRET}#{SECRET}", "https://host:80/a/b.zip"),
        (f"https://{SECRET}@host/", "https://host/"),
        ("file:///a/b@c.zip", "file:///a/b@c.zip"),
        ("/a/b:c@d/results.db", "/a/b:c@d/results.db"),
        ("./user=me.db", "./user=me.db"),
        (r"C:\a@b\results.db", r"C:\a@b\results.db"),
        ("a:b.db", "a:b.db"),
    ],
)
def test_what_is_shown_of_an_address(text: str, shown: str) -> None:
    address = Address(text, "--results")
    assert (str(address), f"{address}", f"{address!r}") == (shown, shown, f"Address({shown!r})")
    assert str(copy.deepcopy(address)) == shown
    assert address.has_secrets == (text != shown)
    assert address.reveal() == text
    assert json.dumps({"found": address}, default=str) == json.dumps({"found": shown})


@pytest.mark.parametrize(
    "text",
    [
        f"postgresql+psycopg://me:S3C@{SECRET}@host/name", f"postgresql://me:{SECRET}/x@host/name",
        f"postgresql://me:{SECRET}?x@host/name", f"postgresql://me:{SECRET}#x@host/name",
        f"postgresql://me:{SECRET}%@host/name", f"postgresql://me:1/{SECRET}@host/name", f"postgresql://{SECRET}/@host",
        f"postgresql://host/name?password=x@{SECRET}", f"postgresql+psycopg://host/name;password={SECRET}",
        f"postgresql:/me:{SECRET}@host/name", f"postgresql+psycopg:me:{SECRET}@host/name", f"me:{SECRET}@host/name",
        f"//me:{SECRET}@host/name", f"://me:{SECRET}@", f"sqlite:///me:{SECRET}@host", f"me:?{SECRET}@host/name",
        f"host=db user=me password={SECRET}", f"dbname=x;pwd={SECRET}", f"user = me {SECRET}",
        f"Server=db;Uid=me;Pwd={SECRET}", f"file:x.db?password={SECRET}", f"https://me:{SECRET}@[x/",
        f"https://me:{SECRET}@host:{SECRET}/", f"https://host/x;password={SECRET}",
    ],
)  # fmt: skip
def test_what_has_several_meanings_is_refused_without_being_repeated(text: str) -> None:
    with pytest.raises(UserError) as refused:
        Address(text, "--results")
    said = str(refused.value)
    assert said.startswith("--results: not an address, or one with several meanings: expected SCHEME://HOST:PORT/NAME")
    assert "write %40 for @" in said
    assert not {SECRET, "S3C"} & set(said.split())
    assert SECRET not in said


@given(st.text(min_size=6), st.text(st.characters(codec="ascii", categories=["L", "N"]), min_size=1))
def test_no_password_is_shown_whatever_it_contains(password: str, user: str) -> None:
    url = URL.create("postgresql+psycopg", user, f"<{password}>", "host", 5432, "name")
    address = Address(url.render_as_string(hide_password=False), "--results")
    assert str(address) == f"postgresql+psycopg://{user}:***@host:5432/name"
    assert f"<{password}>" not in address.scrub(f"connection with '<{password}>' failed")


def test_messages_of_libraries_are_scrubbed() -> None:
    address = Address(f"https://me:{SECRET}@host/a.zip?key=a%2Fb&n=7", "URL")
    said = address.scrub(f"{SECRET} me a/b a%2Fb n=7 in 17 of {address.reveal()}, and http://u:p@ss@proxy:1")
    assert said == "*** *** *** *** ***=*** in 17 of https://***:***@host/a.zip?***, and http://u:***@proxy:1"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (f"no file postgresql:/me:{SECRET}@host/x", "no file postgresql:/me:***@host/x"),
        (f"at ://me:{SECRET}@b@c here", "at ://me:***@c here"),
        (f"host=db password='{SECRET} x' port=1", "host=db password=*** port=1"),
        ("see https://example.org/a, or write to a@b.org", "see https://example.org/a, or write to a@b.org"),
        ("12:30 at https://host:80/x", "12:30 at https://host:80/x"),
    ],
)
def test_passwords_are_found_in_any_text(text: str, shown: str) -> None:
    assert without_passwords(text) == shown


@pytest.mark.parametrize("text", [":/a:" * 250_000, "@" + ":/a:" * 250_000, "password='" * 100_000])
def test_passwords_are_looked_for_in_one_pass(text: str) -> None:
    """A search from every possible beginning to the end of the text would take hours."""
    assert len(without_passwords(text)) <= len(text)


def test_a_command_to_paste_takes_it_from_a_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    assert results_option(Address("results.db", "")) == ""
    assert results_option(Address("my results.db", "")) == "--results 'my results.db'"
    secret = Address(f"postgresql://me:{SECRET}@host/name", "")
    assert results_option(secret) == '--results "${PGDL_RESULTS:?its address}"'
    done = subprocess.run(["sh", "-c", f"echo {results_option(secret)}"], capture_output=True, text=True)
    assert (done.stdout, done.stderr.partition("PGDL")[2].strip()) == ("", "_RESULTS: its address")
    monkeypatch.setenv("PGDL_RESULTS", "other.db")
    assert results_option(secret) == '--results "$PGDL_RESULTS"'
    assert results_option(Address("results.db", "")) == "--results results.db"
