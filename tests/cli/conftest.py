"""Runs the command line in this process, as a user would, in a folder of its own."""

import os
import shutil
from pathlib import Path

import pytest
from in_process import Record

from harness.records import Evaluation, Records


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
def record(folder: Path) -> Record:
    """Write records into results.db, where every command looks for them."""

    def write(evaluations: list[Evaluation]) -> Path:
        location = folder / "results.db"
        with Records(str(location)) as records:
            records.add(*evaluations)
        return location

    return write
