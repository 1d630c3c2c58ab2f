"""A machine to plan calls for, and models that need no files."""

from pathlib import Path

import pytest

from harness.execution import machine
from harness.task.data import TrainingData
from harness.task.model import Model


@pytest.fixture
def four_cores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine of four cores without a GPU, and a cache of this test's own."""
    monkeypatch.setenv("PGDL_CACHE", str(tmp_path))
    monkeypatch.setattr(machine, "available_cores", lambda: 4)
    monkeypatch.setattr(machine, "find_gpus", list)


@pytest.fixture
def unstaged(monkeypatch: pytest.MonkeyPatch) -> None:
    """Models and training data are staged without files."""
    for kind in (Model, TrainingData):
        monkeypatch.setattr(kind, "write_canonical", lambda self, directory: None)
