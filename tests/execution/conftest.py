"""Fixtures for planning calls: a machine, and models without files."""

from pathlib import Path

import pytest

from harness.execution import machine
from harness.task.data import TrainingData
from harness.task.model import Model


@pytest.fixture
def four_cores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine of four cores without a GPU, with an empty cache."""
    monkeypatch.setenv("PGDL_CACHE", str(tmp_path))
    monkeypatch.setattr(machine, "available_cores", lambda: 4)
    monkeypatch.setattr(machine, "find_gpus", list)


@pytest.fixture
def unstaged(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let models and training data write no files when they are staged."""
    for kind in (Model, TrainingData):
        monkeypatch.setattr(kind, "write_canonical", lambda self, directory: None)
