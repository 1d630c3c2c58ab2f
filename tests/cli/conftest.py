"""Runs the command line in this process, as a user would, in a folder of its own."""

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
    """The current directory of a test, without any setting of the user."""
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


@pytest.fixture
def sandbox(zygotes: SharedZygotes) -> Iterator[None]:
    """Run calls in real sandboxes that start quickly; skip where there are none."""
    if (problem := Fresh().problem()) is not None:
        pytest.skip(f"no sandbox here: {problem}")
    with zygotes.used():
        yield


@pytest.fixture
def three_submissions(folder: Path, record: Record) -> Path:
    """A task without models, and records of a winner, of a weak submission, and of one that failed on a model."""
    write_reference(folder / "task_data")
    said = {"message": "ValueError: no layer", "output_tail": "Traceback\nno layer"}
    half = failed("half", "model_7", Outcome.EXCEPTION, **said)
    return record([*rows("winner", GAPS), *rows("weak", MEASURE), *rows("half", MEASURE[:7]), half])
