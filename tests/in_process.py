"""Runs the command line in this process, as a user would."""

import sys
import threading
from collections.abc import Callable
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


Pgdl = Callable[..., Ended]


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
