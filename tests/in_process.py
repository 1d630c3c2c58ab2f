"""Runs the command line in this process, as a user would."""

import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest


class Ended(NamedTuple):
    """How a command ended, and what it printed."""

    code: int
    out: str
    err: str

    @property
    def lines(self) -> list[str]:
        return self.out.splitlines()

    def refusal(self) -> str:
        """Return the message of a command that ends with 2 and prints nothing else: one line, below a usage if any."""
        assert (self.code, self.out) == (2, ""), self
        assert len(self.err.splitlines()) == 1 or self.err.startswith("Usage:"), self
        return self.err


Pgdl = Callable[..., Ended]
#: Writes records into results.db, where every command looks for them.
Record = Callable[..., Path]


def in_process(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Pgdl:
    """Return a function that runs `pgdl ARGUMENTS`."""
    from harness.cli.main import main

    def run(*arguments: object) -> Ended:
        monkeypatch.setattr(sys, "argv", ["pgdl", *map(str, arguments)])
        monkeypatch.setattr(threading, "excepthook", threading.excepthook)  # it is pytest's again afterwards
        with pytest.raises(SystemExit) as ended:
            main()
        printed = capsys.readouterr()
        assert isinstance(ended.value.code, int)
        return Ended(ended.value.code, printed.out, printed.err)

    return run
