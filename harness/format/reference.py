"""Reads and writes a task's reference data: the hyperparameters and accuracies of its models."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from harness.errors import UserError
from harness.format.fetched import RECORD, read_fetched
from harness.format.files import kind, leaves, natural, read_json, require_whole_text
from harness.format.layout import model_name
from harness.format.problems import Problems
from scoring import Grid, GridError


@dataclass(frozen=True)
class Reference:
    """The reference data of a task. The id of a model is the name of the model's directory."""

    grid: Grid  #: the hyperparameters, with one model per cell; models are in natural order
    train_accuracy: Mapping[str, float]  #: model id -> accuracy on the training set, in [0, 1]
    test_accuracy: Mapping[str, float]  #: model id -> accuracy on the test set, in [0, 1]
    part: str | None = None  #: a note if only some models were downloaded; None for a whole task

    @property
    def models(self) -> tuple[str, ...]:
        """Model ids in natural order."""
        return self.grid.models

    @cached_property
    def gaps(self) -> dict[str, float]:
        """Model id -> generalization gap: train accuracy minus test accuracy, in [-1, 1]."""
        return {model: self.train_accuracy[model] - self.test_accuracy[model] for model in self.models}


def read_reference(path: Path | str) -> Reference:
    """Return the reference data in a model_configs.json; raises `UserError`, with all problems, if invalid."""
    path = Path(path)
    reference = parse_reference(read_json(path), path)
    fetched = read_fetched(path.parent / RECORD)
    return replace(reference, part=fetched.part) if fetched else reference


def parse_reference(content: dict[str, Any], path: Path) -> Reference:
    """Return the reference data in `content`, the JSON object of the file model_configs.json at `path`.

    Raises `UserError`, with all problems, if the content is malformed, the models do not form a grid, or an accuracy is
    not a number in [0, 1].
    """
    for value in leaves(content):
        require_whole_text(value, path)  # no board could be written with another text
    entries = _by_directory(content, path)
    problems = Problems()
    hyperparameters = {
        model: problems.attempt(_hyperparameters, path, model, entry) for model, entry in entries.items()
    }
    train, test = (
        {model: problems.attempt(_accuracy, path, model, entry, name) for model, entry in entries.items()}
        for name in ("train_acc", "test_acc")
    )
    complete = {model: values for model, values in hyperparameters.items() if values is not None}
    grid = problems.attempt(_grid, path, complete) if len(complete) == len(entries) else None
    problems.raise_if_any()
    assert grid is not None
    return Reference(grid, _without_none(train), _without_none(test))


def _by_directory(content: dict[str, Any], path: Path) -> dict[str, Any]:
    """Return model id -> entry, sorted with model_2 before model_10; raises `UserError` if a model has two entries."""
    entries: dict[str, Any] = {}
    for model, entry in content.items():
        name = model_name(model)
        if name in entries:
            expected, found = f"one entry for {name}", f"{model!r} and another"
            raise UserError("two models with one id", file=path, expected=expected, found=found)
        entries[name] = entry
    return dict(sorted(entries.items(), key=lambda item: natural(item[0])))


def _hyperparameters(path: Path, model: str, entry: Any) -> dict[str, tuple[list[Any], Any]]:
    """Return hyperparameter -> (possible values, the model's value); raises `UserError` if the entry is malformed."""
    found = {}
    for name, values in _member(path, model, entry, "hparams", dict).items():
        where = f"{model}: hparams.{name}"
        possible = _member(path, where, values, "possible_values", list)
        if "current_value" not in values:
            raise UserError(where, file=path, expected="a current_value", found="none")
        found[name] = (possible, values["current_value"])
    return found


def _grid(path: Path, models: dict[str, dict[str, tuple[list[Any], Any]]]) -> Grid:
    possible: dict[str, list[Any]] = {}
    first: dict[str, str] = {}
    for model, hyperparameters in models.items():
        for name, (values, _) in hyperparameters.items():
            if possible.setdefault(name, values) != values:
                expected = f"{possible[name]} as in {first[name]}"
                raise UserError(f"{model}: hparams.{name}.possible_values", file=path, expected=expected, found=values)
            first.setdefault(name, model)
    current = {model: {name: value for name, (_, value) in values.items()} for model, values in models.items()}
    try:
        return Grid.from_hyperparameters(possible, current)
    except GridError as error:
        raise UserError(str(error), file=path) from error


def _accuracy(path: Path, model: str, entry: Any, name: str) -> float:
    metrics = _member(path, model, entry, "metrics", dict)
    value = metrics.get(name)
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not (is_number and 0 <= value <= 1):  # also refuses NaN
        found = "none" if name not in metrics else value if is_number else f"{kind(value)} ({value!r})"
        raise UserError(f"{model}: metrics.{name}", file=path, expected="a number in [0, 1]", found=found)
    return float(value)


def _member(path: Path, where: str, container: Any, key: str, expected: type) -> Any:
    if not isinstance(container, dict):
        raise UserError(where, file=path, expected="an object", found=kind(container))
    value = container.get(key)
    if not isinstance(value, expected):
        found = kind(value) if key in container else "none"
        separator = "." if "." in where else ": "
        wanted = "an object" if expected is dict else "a list"
        raise UserError(f"{where}{separator}{key}", file=path, expected=wanted, found=found)
    return value


def _without_none(values: Mapping[str, float | None]) -> dict[str, float]:
    return {model: value for model, value in values.items() if value is not None}


def write_reference(path: Path, entries: Mapping[str, Mapping[str, Any]]) -> None:
    """Write a model_configs.json. In `entries`, the keys `3` and `model_3` mean the same model."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(json.dumps(entries, indent=2).encode())


def reference_entry(
    possible: Mapping[str, Sequence[Any]], current: Mapping[str, Any], metrics: Mapping[str, float]
) -> dict[str, Any]:
    """Return the entry of a model in model_configs.json.

    `possible` has each hyperparameter's values in the task, and `current` its value in the model. `metrics` has
    `train_acc` and `test_acc` in [0, 1].
    """
    hyperparameters = {
        name: {"possible_values": list(possible[name]), "current_value": value} for name, value in current.items()
    }
    return {"hparams": hyperparameters, "metrics": dict(metrics)}
