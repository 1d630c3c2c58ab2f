"""Runs `pgdl` in the process of the test, in a folder of its own."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from in_process import Record
from shared_zygotes import SharedZygotes

from harness.outcome import Outcome
from harness.records import Evaluation, Records
from harness.sandbox.kinds.fresh import Fresh
from tests.board.board_examples import GAPS, MEASURE, failed, rows, write_reference


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty current directory, and no settings of the user."""
    for name in [name for name in os.environ if name.startswith("PGDL_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PGDL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def known_shapes(folder: Path, shared_cache: Path) -> None:
    """Put the shapes of the throw-away models into the cache: computing them with Keras takes seconds."""
    shutil.copytree(shared_cache / "shapes", folder / "cache" / "shapes")


@pytest.fixture
def record(folder: Path) -> Record:
    """Return a function that writes records into results.db, the default database of every command."""

    def write(evaluations: list[Evaluation]) -> Path:
        location = folder / "results.db"
        with Records(str(location)) as records:
            records.add(*evaluations)
        return location

    return write


@pytest.fixture
def sandbox(zygotes: SharedZygotes) -> Iterator[None]:
    """Select a kind of sandbox that starts quickly; skip the test if no sandbox works."""
    if (problem := Fresh().problem()) is not None:
        pytest.skip(f"no sandbox here: {problem}")
    with zygotes.used():
        yield


@pytest.fixture
def three_submissions(folder: Path, record: Record) -> Path:
    """Records of `winner`, `weak` and `half`; a call of `half` failed. The task has no model files."""
    write_reference(folder / "task_data")
    said = {"message": "ValueError: no layer", "output_tail": "Traceback\nno layer"}
    half = failed("half", "model_7", Outcome.EXCEPTION, **said)
    return record([*rows("winner", GAPS), *rows("weak", MEASURE), *rows("half", MEASURE[:7]), half])
