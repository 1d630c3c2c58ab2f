"""Tests of `pgdl.import_torch`: it makes a task of modules, and refuses other modules in one line."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from in_process import Pgdl
from runtimes.each_runtime import run_python

from harness.format.reference import read_reference
from harness.task.layout import TaskDirectory
from harness.task.task import read_task


def run_here(program: str, *arguments: object) -> str:
    """Run a program of this directory in a process with PyTorch; return its output."""
    return run_python("torch", Path(__file__).with_name(program), *arguments)


@pytest.mark.rest
def test_modules_become_a_task(tmp_path: Path) -> None:
    said = json.loads(run_here("modules_imported.py", tmp_path))
    assert [line for line in said["told"] if "training mode" in line] == [
        f"Note: models[{number}] is in training mode: it is exported in evaluation mode" for number in (0, 2)
    ]
    assert sum(said["training"]) == 2  # as they were
    assert any(re.match(r"model_7 \(models\[7\]\): train 0\.\d+, test 0\.\d+, gap ", line) for line in said["told"])
    task = read_task(TaskDirectory(tmp_path).runnable()[0])
    assert len(task.models) == 8
    assert all(model.has_initial_weights and model.input_shape == (8, 8, 3) for model in task.models)
    reference = read_reference(tmp_path / "reference_data" / "modules" / "model_configs.json")
    assert {*reference.grid.names} == {"dropout", "rate", "width"}


def test_bad_input_ends_in_one_line(tmp_path: Path) -> None:
    found = json.loads(run_here("modules_imported.py", tmp_path, "problems"))
    assert len(found) == 28
    for message, pattern in found:
        assert re.search(pattern, message), message
        assert "\n" not in message
        assert "SOMETHING IS LEFT" not in message


@pytest.mark.rest
def test_exported_files_come_in_by_the_table(tmp_path: Path, pgdl: Pgdl) -> None:
    run_here("exported_networks.py", tmp_path, "plain", "residual")
    inputs = np.load(tmp_path / "plain" / "inputs.npy")
    np.savez(tmp_path / "data.npz", x=inputs, y=np.arange(len(inputs)) % 4)
    np.savez(tmp_path / "channels_first.npz", x=np.moveaxis(inputs, -1, 1), y=np.arange(len(inputs)) % 4)
    (tmp_path / "models.csv").write_text("file,kind\nplain/network.pt2,0\nresidual/network.pt2,1\n")
    table, data, test, output = (tmp_path / name for name in ("models.csv", "data.npz", "channels_first.npz", "tasks"))
    outcome = pgdl("task", "import", table, "--data", data, "--test", test, "--output", output)
    assert outcome.code == 0, outcome
    assert len(re.findall(r"train (0\.\d+), test \1, gap 0\.0000", outcome.out + outcome.err)) == 2
    assert "not compared" not in outcome.out + outcome.err


@pytest.mark.rest
def test_measures_on_a_module_are_those_computed_by_hand() -> None:
    values = json.loads(run_here("modules_measured.py"))
    assert len(values) == 12
    for name, (found, expected) in values.items():
        assert found == pytest.approx(expected, rel=1e-3), name
