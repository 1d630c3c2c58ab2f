"""A secret text, which tests search for in everything that a command prints, writes and starts."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from in_process import Ended

SECRET = "canary4711"


def require_hidden(*ended: Ended) -> None:
    for one in ended:
        assert SECRET not in one.out + one.err


def require_unwritten(*places: Path) -> None:
    """Assert that the secret is in no file's name or content below these directories."""
    files = [file for place in places for file in place.rglob("*")]
    assert [file for file in files if SECRET in file.name] == []
    assert [file for file in files if file.is_file() and SECRET.encode() in file.read_bytes()] == []


@contextmanager
def started(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Yield the growing list of arguments of all processes that start in the context: every user can see them."""
    arguments: list[str] = []
    start = subprocess.Popen.__init__

    def noting(self: Any, command: Any, *more: Any, **options: Any) -> None:
        arguments.extend([command] if isinstance(command, str | bytes) else map(str, command))
        start(self, command, *more, **options)

    with monkeypatch.context() as patch:
        patch.setattr(subprocess.Popen, "__init__", noting)
        yield arguments
