"""Runs the command line in this process, as a user would, in a folder of its own."""

import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from sqlalchemy import create_engine
from sqlalchemy.orm import Session

from harness.cli.main import main
from harness.records import Evaluation, Records


class Ended(NamedTuple):
    """How a command ended, and what it printed."""

    code: int
    out: str
    err: str


Pgdl = Callable[..., Ended]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current directory; nothing of the user's own settings is left."""
    for name in [name for name in os.environ if name.startswith("PGDL_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PGDL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def known_shapes(folder: Path, shared_cache: Path) -> None:
    """Have the throw-away models known already: asking Keras takes seconds."""
    shutil.copytree(shared_cache / "shapes", folder / "cache" / "shapes")


@pytest.fixture
def pgdl(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Pgdl:
    """Run `pgdl ARGUMENTS`."""

    def run(*arguments: object) -> Ended:
        monkeypatch.setattr(sys, "argv", ["pgdl", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        printed = capsys.readouterr()
        assert isinstance(ended.value.code, int)
        return Ended(ended.value.code, printed.out, printed.err)

    return run


@pytest.fixture
def record(folder: Path) -> Callable[[list[Evaluation]], Path]:
    """Write records into results.db, where every command looks for them."""

    def write(evaluations: list[Evaluation]) -> Path:
        location = folder / "results.db"
        Records(str(location)).__exit__(None, None, None)
        with Session(create_engine(f"sqlite:///{location}")) as session:  # all at once, which is quicker
            session.add_all(evaluations)
            session.commit()
        return location

    return write
