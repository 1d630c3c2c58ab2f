"""No password of a database is in anything that is printed or written."""

import hypothesis.strategies as st
import pytest
from hypothesis import given
from sqlalchemy import URL

from harness.api.commands import results_option
from harness.credentials import has_secrets, scrub, without_secrets

SECRET = "canary4711"


@pytest.mark.parametrize(
    ("location", "shown"),
    [
        ("results.db", "results.db"),
        ("sqlite:///a/b.db", "sqlite:///a/b.db"),
        ("postgresql+psycopg://host/name", "postgresql+psycopg://host/name"),
        (f"postgresql+psycopg://me:{SECRET}@host:1/name", "postgresql+psycopg://me:***@host:1/name"),
        (f"postgresql://host/name?user=me&password={SECRET}", "postgresql://host/name?user=***&password=***"),
        (f"postgresql://me:{SECRET}@{SECRET}/?x@host/name", "postgresql://me:***@host/name"),
        (f"postgresql://host/name?password=x@{SECRET}", "postgresql://***@***"),
        (f"postgresql://host/name?password=x&{SECRET}", "postgresql://host/name?password=***&***"),
        ("/a/b@c/results.db", "/a/b@c/results.db"),
        ("a:b.db", "a:b.db"),
        (f"postgresql:/me:{SECRET}@host/name", "postgresql:***@host/name"),
        (f"postgresql+psycopg:me:{SECRET}@host/name", "postgresql+psycopg:***@host/name"),
        (f"me:{SECRET}@host/name", "me:***@host/name"),
        (f"me:?{SECRET}@host/name", "me:***"),
        (f"file:x.db?password={SECRET}", "file:x.db?password=***"),
    ],
)
def test_what_is_shown_of_a_location(location: str, shown: str) -> None:
    assert without_secrets(location) == shown
    assert has_secrets(location) == (location != shown)


@given(st.text(min_size=6), st.text(st.characters(codec="ascii", categories=["L", "N"]), min_size=1))
def test_no_password_is_shown_whatever_it_contains(password: str, user: str) -> None:
    url = URL.create("postgresql+psycopg", user, f"<{password}>", "host", 5432, "name")
    location = url.render_as_string(hide_password=False)
    assert without_secrets(location) == f"postgresql+psycopg://{user}:***@host:5432/name"
    assert f"<{password}>" not in scrub(f"connection with '<{password}>' failed", location)


def test_a_command_to_paste_takes_it_from_a_variable() -> None:
    assert results_option("results.db") == ""
    assert results_option("my results.db") == "--results 'my results.db'"
    assert results_option(f"postgresql://me:{SECRET}@host/name") == '--results "$PGDL_RESULTS"'


def test_a_command_to_paste_goes_before_a_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGDL_RESULTS", "other.db")
    assert results_option("results.db") == "--results results.db"
