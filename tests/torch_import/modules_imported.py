"""modules_imported.py DIRECTORY: imports eight modules as a task, and prints the messages for bad modules as JSON."""

import itertools
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

import pgdl

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


def with_nan(inputs: torch.Tensor) -> torch.Tensor:
    """Return inputs with a NaN in example 69, which is not among the compared examples."""
    changed = inputs.clone()
    changed[69, 0, 0, 0] = torch.nan
    return changed


def with_nan_weight(module: Any) -> Any:
    """Return a module with NaN among its weights."""
    module[5].weight.data[0, 0] = torch.nan
    return module


def problem(directory: Path, *models: Any, train: Any = TRAIN, **others: Any) -> str:
    """Return the message of an import that must fail, and whether the import left files behind."""
    try:
        pgdl.import_torch(models, **{"train": train, "test": TEST, "output": directory / "none"} | others)
    except pgdl.UserError as error:
        return str(error) + " AND SOMETHING IS LEFT" * (directory / "none").exists()
    return "no error"


def problem_of_measure(module: Any, data: Any = TRAIN) -> str:
    """Return the message for a measure that cannot be computed."""
    try:
        return str(pgdl.measure("num_params")(module, data))
    except pgdl.UserError as error:
        return str(error)


def problems(directory: Path) -> None:
    """Print the message for each bad input."""
    a: Mapping[str, Any] = {"width": 4}
    print(
        json.dumps(
            {
                "half": problem(directory, (network().half(), a)),
                "no module": problem(directory, ("model.pt", a)),
                "no pair": problem(directory, network()),
                "none": problem(directory),
                "two outputs": problem(directory, (Pair(), a)),
                "control flow": problem(directory, (nn.Sequential(nn.Conv2d(3, 3, 3), Branching()), a)),
                "sizes": problem(directory, (nn.Sequential(nn.Flatten(), nn.Linear(99, 4)), a)),
                "labels": problem(directory, (network(), a), train=(INPUTS, LABELS + 1)),
                "image": problem(directory, (network(), a), train=(with_nan(INPUTS), LABELS)),
                "no examples": problem(directory, (network(), a), train=(INPUTS[:0], LABELS[:0])),
                "weights": problem(directory, (with_nan_weight(network()), a)),
                "no test": problem(directory, (network(), a), test=None),
                "name": problem(directory, (network(), a), name="../x y"),
                "list": problem(directory, (network(), {"width": [4]})),
                "nan": problem(directory, (network(), {"width": float("nan")})),
                "tensor": problem(directory, (network(), {"width": torch.tensor(4), "test_acc": np.float32(0.5)})),
                "measured": problem_of_measure(Sine()),
                "measured state_dict": problem_of_measure(network().state_dict()),
                "measured weights": problem_of_measure(with_nan_weight(network())),
                "measured labels": problem_of_measure(network(), (INPUTS, LABELS + 1)),
                "complex": problem_of_measure(network(), (INPUTS + 1j, LABELS)),
                "text": problem_of_measure(network(), (INPUTS, LABELS.numpy().astype(str))),
                "regression": problem_of_measure(network(), (INPUTS, LABELS / 2)),
                "single examples": problem_of_measure(network(), zip(INPUTS, LABELS, strict=True)),
                "data": problem(directory, (network(), a), train=[1, 2, 3]),
                "one cell": problem(directory, (network(), a), (network(), a)),
                "names": problem(directory, (network(), a), (network(), {"depth": 4})),
                "result": problem(directory, (network(), {"width": 4, "test_acc": 0.5})),
                "accuracy": problem(directory, pgdl.TorchModel(network(), a, train_accuracy=1.0)),
                "initial": problem(directory, pgdl.TorchModel(network(), a, network(8).state_dict())),
            }
        )
    )


if __name__ == "__main__":
    if sys.argv[1] == "task":
        task(Path(sys.argv[2]))
    else:
        problems(Path(sys.argv[2]))
