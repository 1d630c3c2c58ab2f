"""Tests of the choice of `auto`, and of its messages if the best sandbox, or every sandbox, fails."""

import os
import runpy
from dataclasses import replace
from pathlib import Path

import landlockpy
import pytest
from rich.console import Console

from harness.api.execution import prepare
from harness.cli.terminal import Terminal
from harness.errors import UserError
from harness.sandbox import bubblewrap
from harness.sandbox.kinds.fresh import Fresh
from harness.sandbox.kinds.landlock import MISSING, Landlock
from pgdl import Execution

REFUSED = UserError("the sandbox does not work here: No permissions", remedy="allow user namespaces")
TOO_OLD = UserError("Landlock", expected="version 6", found="none")

CHOSEN = Execution(memory_bytes=1 << 30, workers=1)


def found(monkeypatch: pytest.MonkeyPatch, bubblewrap: UserError | None, weaker: UserError | None) -> None:
    monkeypatch.setattr(Fresh, "problem", lambda self: bubblewrap)
    monkeypatch.setattr(Landlock, "problem", lambda self: weaker)


def chosen(mode: str) -> str:
    return prepare(replace(CHOSEN, sandbox=mode), (), Terminal(Console()))[1].isolation


@pytest.mark.parametrize(
    ("mode", "isolation"),
    [("auto", "bubblewrap"), ("fast", "bubblewrap"), ("fresh", "bubblewrap"), ("landlock", "landlock")],
)
def test_what_is_asked_for_where_it_works(monkeypatch, capfd, mode, isolation):
    found(monkeypatch, None, None)
    assert chosen(mode) == isolation
    assert capfd.readouterr().err == ""


def test_auto_takes_landlock_instead_and_says_what_is_missing(monkeypatch, capfd):
    found(monkeypatch, REFUSED, None)
    assert chosen("auto") == "landlock"
    lines = capfd.readouterr().err.splitlines()
    assert lines[0] == f"pgdl: {REFUSED}"
    assert "pgdl doctor" in lines[1]
    assert [line.removeprefix("pgdl:   ") for line in lines[2:]] == list(MISSING)


@pytest.mark.parametrize(
    ("mode", "problem"),
    [("fast", "No permissions; allow user namespaces"), ("fresh", "No permissions; allow user namespaces"),
     ("landlock", "Landlock: expected version 6, found none")],
)  # fmt: skip
def test_who_asks_for_a_sandbox_gets_no_other(monkeypatch, mode, problem):
    found(monkeypatch, *((None, TOO_OLD) if mode == "landlock" else (REFUSED, None)))
    with pytest.raises(UserError, match=problem):
        chosen(mode)


def test_where_neither_works_both_reasons_are_given(monkeypatch, capsys):
    found(monkeypatch, REFUSED, TOO_OLD)
    with pytest.raises(UserError) as raised:
        chosen("auto")
    assert str(raised.value) == (
        "the sandbox does not work here: No permissions; allow user namespaces; "
        "nor does the weaker sandbox work: Landlock: expected version 6, found none; "
        "or, for your own code only, pgdl run --unsafe-no-sandbox"
    )
    with pytest.raises(SystemExit, match="2"):
        runpy.run_module("harness.sandbox", run_name="__main__")
    assert capsys.readouterr().out.strip() == str(raised.value)


def refuse() -> int:
    raise landlockpy.LandlockError(1, "Operation not permitted")


@pytest.mark.parametrize(
    ("version", "said"), [(lambda: 0, "found none;"), (lambda: 5, "found version 5;"), (refuse, "found none")]
)
def test_a_kernel_that_is_too_old_and_a_container_that_refuses_even_the_question(monkeypatch, version, said):
    monkeypatch.setattr(landlockpy, "abi_version", version)
    problem = str(Landlock().problem())
    assert said in problem
    assert "Linux 6.12" in problem


@pytest.mark.skipif(os.geteuid() != 0, reason="workers of an ordinary user are that user")
def test_what_workers_of_root_cannot_enter(tmp_path, monkeypatch):
    private = tmp_path / "private"
    private.mkdir(mode=0o700)
    monkeypatch.setenv("PGDL_CACHE", str(private / "cache"))
    monkeypatch.setattr(bubblewrap, "interpreter", lambda: {Path("/usr")})
    problem = str(Landlock().problem())
    assert "run as an ordinary user" in problem
    assert "\n" not in problem
