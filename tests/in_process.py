"""Runs `pgdl` commands in the process of the test."""

import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest


class Ended(NamedTuple):
    """The exit code and the output of a command."""

    code: int
    out: str
    err: str

    @property
    def lines(self) -> list[str]:
        return self.out.splitlines()

    def refusal(self) -> str:
        """Assert exit code 2 and only an error as output, one line or a text that begins with the usage; return it."""
        assert (self.code, self.out) == (2, ""), self
        assert len(self.err.splitlines()) == 1 or self.err.startswith("Usage:"), self
        return self.err


Pgdl = Callable[..., Ended]
#: Writes records into results.db, the default database of every command.
Record = Callable[..., Path]


def in_process(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Pgdl:
    from harness.cli.main import main

    def run(*arguments: object) -> Ended:
        monkeypatch.setattr(sys, "argv", ["pgdl", *map(str, arguments)])
        monkeypatch.setattr(
            threading, "excepthook", threading.excepthook
        )  # so that pytest's own hook returns after the test
        with pytest.raises(SystemExit) as ended:
            main()
        printed = capsys.readouterr()
        assert isinstance(ended.value.code, int)
        return Ended(ended.value.code, printed.out, printed.err)

    return run
