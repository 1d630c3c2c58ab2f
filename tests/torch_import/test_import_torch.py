"""Tests of `pgdl.import_torch`: it makes a task of modules, and refuses other modules in one line."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from in_process import Pgdl
from runtimes.each_runtime import run_python

from harness.format.reference import read_reference
from harness.task.layout import TaskDirectory
from harness.task.task import read_task

PROBLEMS = {
    "half": r"models\[0\]: expected weights in float32, found torch\.float16; convert it: module\.float\(\)",
    "no module": r"models\[0\]: expected a torch\.nn\.Module, found str",
    "no pair": r"models\[0\]: expected a pair of a module and its hyperparameters, or a TorchModel, found Sequential",
    "none": r"models: expected at least 1, found none",
    "two outputs": r"models\[0\]: output: expected one tensor \(examples, classes\), found tuple",
    "control flow": r"models\[0\]: torch\.export cannot export it: found .*data-dependent.*File .*\.py.*; "
    r"write its forward without a decision on the data",
    "sizes": r"models\[0\]: cannot be called on inputs of shape \(64, 3, 8, 8\): found RuntimeError: ",
    "labels": r"train: label: expected 0\.\.3, because the models have 4 outputs, found 4 of example 3",
    "image": r"train: inputs: expected finite numbers, found NaN or infinity in example 69",
    "no examples": r"train: expected at least 1 example, found none",
    "weights": r"models\[0\]: 5\.weight: expected finite numbers",
    "no test": r"models\[0\]: test_accuracy: expected a value, found none; state it, or give test data$",
    "name": r"name of the task: expected at most 200 letters, digits, \., _ and -, the first no \. or -, found '\.\./",
    "list": r"models\[0\]: hyperparameters: width: expected a number, text or a truth value, found list",
    "nan": r"models\[0\]: width: expected text or a finite number, found nan",
    "tensor": r"hyperparameters: header: .*'test_acc'",
    "measured": r"model: operation: expected one that is translated, found the outermost forward \(sin\): aten\.sin",
    "measured state_dict": r"model: expected a Keras model or a torch\.nn\.Module, found OrderedDict",
    "measured weights": r"model: 5\.weight: expected finite numbers",
    "measured labels": r"data: label: expected 0\.\.3, because the models have 4 outputs, found 4 of example 3",
    "complex": r"data: expected inputs that are real numbers, found complex64",
    "text": r"data: labels: expected integers, .* found <U\d+, .*; numpy\.unique\(labels, return_inverse=True\)\[1\]",
    "regression": r"data: labels: expected integers, .* found 0\.5 of example 1; regression is not supported",
    "single examples": r"data: expected \(inputs, labels\), a Dataset or a DataLoader of such pairs, found zip",
    "data": r"train: expected \(inputs, labels\), a Dataset or a DataLoader of such pairs, found list",
    "one cell": r"models: .*models\[0\].*models\[1\]",
    "names": r"models\[1\]: hyperparameters: expected the hyperparameters width, found depth",
    "result": r"hyperparameters: header: expected hyperparameters, found an accuracy, 'test_acc'",
    "accuracy": r"models\[0\]: train_accuracy of models\[0\]: expected 1\.0 as stated, found",
    "initial": r"models\[0\]: initial weights: expected a state_dict of the module, found size mismatch for 0\.weight",
}


def run_here(program: str, *arguments: object) -> str:
    """Run a program of this directory in a process with PyTorch; return its output."""
    return run_python("torch", Path(__file__).with_name(program), *arguments)


@pytest.mark.rest
def test_modules_become_a_task(tmp_path: Path) -> None:
    said = json.loads(run_here("modules_imported.py", "task", tmp_path))
    assert [line for line in said["told"] if "training mode" in line] == [
        f"Note: models[{number}] is in training mode: it is exported in evaluation mode" for number in (0, 2)
    ]
    assert sum(said["training"]) == 2  # as they were
    assert re.search(
        r"^model_7 \(models\[7\]\): train 0\.\d+, test 0\.\d+, gap ", "\n".join(said["told"]), re.MULTILINE
    )
    task = read_task(TaskDirectory(tmp_path).runnable()[0])
    assert len(task.models) == 8
    assert all(model.has_initial_weights and model.input_shape == (8, 8, 3) for model in task.models)
    reference = read_reference(tmp_path / "reference_data" / "modules" / "model_configs.json")
    assert {*reference.grid.names} == {"dropout", "rate", "width"}


@pytest.fixture(scope="module")
def problems(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Name of a bad input -> message."""
    found: dict[str, Any] = json.loads(run_here("modules_imported.py", "problems", tmp_path_factory.mktemp("bad")))
    return found


@pytest.mark.parametrize("name", PROBLEMS)
def test_bad_input_ends_in_one_line(problems: dict[str, Any], name: str) -> None:
    assert re.match(PROBLEMS[name], problems[name]), problems[name]
    assert "\n" not in problems[name]
    assert "SOMETHING IS LEFT" not in problems[name]


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
