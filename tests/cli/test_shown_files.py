"""Tests of tasks and results that submissions could read: every command that runs submissions refuses them."""

import sys
from pathlib import Path

import pytest
from in_process import Pgdl

from harness.api.calls import Run, open_records
from harness.api.execution import prepare
from harness.api.progress import SILENT
from harness.errors import UserError
from tests.sandbox.test_shown_places import CHOSEN
from tests.throwaway import make_task


@pytest.fixture
def environment(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a directory that passes for Python's environment; the sandbox seems to work."""
    (folder / "venv").mkdir()
    monkeypatch.setattr(sys, "prefix", str(folder / "venv"))
    monkeypatch.setattr("harness.sandbox.kinds.fresh.Fresh.problem", lambda self: None)
    return folder / "venv"


def test_tasks(environment: Path, pgdl: Pgdl) -> None:
    task = make_task(environment)
    said = f"pgdl: {task}: submissions could read it: every sandbox shows {environment}; move it"
    for command in ("run vc_dim", "check vc_dim", "compare --measures vc_dim"):
        assert pgdl(*command.split(), "--tasks", environment).refusal().startswith(said)


def test_results(environment: Path, folder: Path) -> None:
    run = Run([], [], *prepare(CHOSEN, (), SILENT))
    inside = environment / "results.db"
    for location in (str(inside), f"sqlite:///{inside}"):
        with pytest.raises(UserError, match="submissions could read it"):
            open_records(run, location)
    assert not inside.exists()
    with open_records(run, folder / "results.db"):
        assert (folder / "results.db").exists()
