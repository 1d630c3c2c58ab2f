"""modules_imported.py DIRECTORY: imports eight modules as a task, and prints what was told as JSON.

modules_imported.py DIRECTORY problems: prints for each bad input the message and the pattern that it must match.
"""

import itertools
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
from torch import nn

sys.path.insert(0, str(Path(__file__).parents[1]))
from forks import forks

import pgdl
from harness import children
from harness.processes import client

client.children = SimpleNamespace(**vars(children) | {"start": forks.start_child})  # TensorFlow is imported only once
torch.manual_seed(0)
INPUTS, LABELS = torch.randn(90, 3, 8, 8), torch.arange(90) % 4
TRAIN, TEST = (INPUTS[:70], LABELS[:70]), torch.utils.data.TensorDataset(INPUTS[70:], LABELS[70:])


def network(width: int = 4, dropout: float = 0.0) -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(3, width, 3, padding=1), nn.BatchNorm2d(width), nn.ReLU(), nn.Flatten(), nn.Dropout(dropout),
        nn.Linear(64 * width, 4),
    )  # fmt: skip


class Branching(nn.Module):
    """A network whose control flow depends on data."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.flatten(1) if x.sum() > 0 else -x.flatten(1)


class Sine(nn.Module):
    """A network with an operation that has no translation."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.flatten(1)[:, :4].sin()


class Pair(nn.Module):
    def forward(self, x: torch.Tensor) -> Any:
        return x, x


def task(directory: Path) -> None:
    """Import a full grid of modules with their initial weights, and print the notes."""
    told: list[str] = []
    models = []
    for width, dropout, rate in itertools.product([2, 4], [0.0, 0.5], [0.1, 0.2]):
        module = network(width, dropout)
        start = {name: tensor.clone() for name, tensor in module.state_dict().items()}
        with torch.no_grad():
            module[5].weight.mul_(1 + rate)
        module.train(width == 2 and rate == 0.1)
        models.append(pgdl.TorchModel(module, {"width": width, "dropout": dropout, "rate": rate}, start))
    pgdl.import_torch(models, TRAIN, TEST, output=directory, name="modules", tell=told.append)
    print(json.dumps({"told": told, "training": [model.module.training for model in models]}))


PLACE = Path(sys.argv[1])
GIVEN: Mapping[str, Any] = {"width": 4}


def problem(*models: Any, train: Any = TRAIN, **others: Any) -> str:
    """Return the message of an import that must fail, and whether the import left files behind."""
    try:
        pgdl.import_torch(models, **{"train": train, "test": TEST, "output": PLACE / "none"} | others)
    except pgdl.UserError as error:
        return str(error) + " AND SOMETHING IS LEFT" * (PLACE / "none").exists()
    return "no error"


def problem_of(module: Any, **given: Any) -> str:
    return problem((module, GIVEN), **given)


def problem_with(hyperparameters: Mapping[str, Any], **given: Any) -> str:
    return problem((SMALL, hyperparameters), **given)


def problem_of_measure(module: Any, inputs: Any = INPUTS, labels: Any = LABELS) -> str:
    """Return the message for a measure that cannot be computed."""
    try:
        return str(pgdl.measure("num_params")(module, (inputs, labels)))
    except pgdl.UserError as error:
        return str(error)


SMALL = nn.Sequential(nn.Flatten(), nn.Linear(192, 4))
NAN_WEIGHT = nn.Sequential(nn.Flatten(), nn.Linear(192, 4))
NAN_WEIGHT[1].weight.data[0, 0] = torch.nan
NAN_INPUT = INPUTS.clone()
NAN_INPUT[69, 0, 0, 0] = torch.nan  # example 69 is not among the compared examples

CLASSES = r"label: expected 0\.\.3, because the models have 4 outputs, found 4 of example 3"
PAIRS = r"expected \(inputs, labels\), a Dataset or a DataLoader of such pairs, found"
NO_CHOICE = r"found .*data-dependent.*File .*\.py.*; write its forward without a decision on the data"
UNIQUE = r"numpy\.unique\(labels, return_inverse=True\)\[1\]"
BRANCHING, MISFIT = nn.Sequential(nn.Conv2d(3, 3, 3), Branching()), nn.Sequential(nn.Flatten(), nn.Linear(99, 4))
NAMED = {"width": torch.tensor(4), "test_acc": np.float32(0.5)}
EXACT = pgdl.TorchModel(SMALL, GIVEN, train_accuracy=1.0)
STARTED = pgdl.TorchModel(SMALL, GIVEN, nn.Sequential(nn.Flatten(), nn.Linear(192, 5)).state_dict())


def problems() -> list[tuple[str, str]]:
    """Return message and expected pattern for each bad input."""
    return [
        (
            problem_of(network().half()),
            r"0\]: expected weights in float32, found torch\.float16; .*: module\.float\(\)",
        ),
        (problem_of("model.pt"), r"0\]: expected a torch\.nn\.Module, found str"),
        (problem(SMALL), r"0\]: expected a pair of a module and its .*, or a TorchModel, found Sequential"),
        (problem(), r"models: expected at least 1, found none"),
        (problem_of(Pair()), r"0\]: output: expected one tensor \(examples, classes\), found tuple"),
        (problem_of(BRANCHING), rf"0\]: torch\.export cannot export it: {NO_CHOICE}"),
        (problem_of(MISFIT), r"0\]: cannot be called on inputs of shape \(64, 3, 8, 8\): found RuntimeError: "),
        (problem_of(SMALL, train=(INPUTS, LABELS + 1)), f"train: {CLASSES}"),
        (
            problem_of(SMALL, train=(NAN_INPUT, LABELS)),
            "train: inputs: expected finite numbers, found NaN .* example 69",
        ),
        (problem_of(SMALL, train=(INPUTS[:0], LABELS[:0])), "train: expected at least 1 example, found none"),
        (problem_of(SMALL, train=[1, 2, 3]), f"train: {PAIRS} list"),
        (problem_of(NAN_WEIGHT), r"0\]: 1\.weight: expected finite numbers"),
        (
            problem_of(SMALL, test=None),
            r"0\]: test_accuracy: expected a value, found none; state it, or give test data$",
        ),
        (problem_of(SMALL, name="../x y"), r"name of the task: expected at most 200 letters, .*, found '\.\./"),
        (problem_with({"width": [4]}), r"0\]: hyperparameters: width: expected a number, text or .*, found list"),
        (problem_with({"width": float("nan")}), r"0\]: width: expected text or a finite number, found nan"),
        (problem_with(NAMED), "hyperparameters: header: expected hyperparameters, found an accuracy, 'test_acc'"),
        (problem((SMALL, GIVEN), (SMALL, GIVEN)), r"models: .*models\[0\].*models\[1\]"),
        (problem((SMALL, GIVEN), (SMALL, {"depth": 4})), r"1\]: hyperparameters: expected .* width, found depth"),
        (problem(EXACT), r"0\]: train_accuracy of models\[0\]: expected 1\.0 as stated, found"),
        (problem(STARTED), r"0\]: initial weights: expected a state_dict of the module, found size mismatch for 1"),
        (problem_of_measure(Sine()), r"model: operation: .*, found the outermost forward \(sin\): aten\.sin"),
        (problem_of_measure(GIVEN), r"model: expected a Keras model or a torch\.nn\.Module, found dict"),
        (problem_of_measure(NAN_WEIGHT), r"model: 1\.weight: expected finite numbers"),
        (problem_of_measure(SMALL, labels=LABELS + 1), f"data: {CLASSES}"),
        (problem_of_measure(SMALL, INPUTS + 1j), "data: expected inputs that are real numbers, found complex64"),
        (
            problem_of_measure(SMALL, labels=LABELS.numpy().astype(str)),
            f"expected integers, .* found <U.*, .*; {UNIQUE}",
        ),
        (
            problem_of_measure(SMALL, labels=LABELS / 2),
            r"expected integers, .* found 0\.5 of example 1; regression is not",
        ),
    ]


if __name__ == "__main__":
    if sys.argv[2:] == ["problems"]:
        print(json.dumps(problems()))
    else:
        task(PLACE)
    forks.end()
