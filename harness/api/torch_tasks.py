"""The function `pgdl.import_torch`: makes a task of networks that were trained in PyTorch."""

import csv
import io
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from harness.api.torch_data import Arrays, arrays_of, named_in_errors, without_place
from harness.errors import UserError
from harness.importer.run import ImportOrder, import_models, require_free
from harness.importer.stated import read_stated, rounding_of
from harness.importer.table import (
    FILE,
    TEST_ACCURACY,
    TRAIN_ACCURACY,
    ImportedRow,
    Table,
    grid_of,
    require_hyperparameter,
)
from harness.torch_import.check import EXAMPLES
from harness.torch_import.export import Exporter


@dataclass(frozen=True)
class TorchModel:
    """A trained network and its hyperparameters. Accuracies, if given, must be those of the translation to Keras."""

    module: Any  #: a `torch.nn.Module`
    hyperparameters: Mapping[str, Any]  #: name -> value, the same names for all models
    initial: Mapping[str, Any] | None = None  #: the `state_dict` before training, if it was kept
    train_accuracy: float | None = None  #: from 0 to 1; None if unknown
    test_accuracy: float | None = None  #: from 0 to 1; None if unknown


def import_torch(
    models: Iterable[TorchModel | tuple[Any, Mapping[str, Any]]],
    train: Any,
    test: Any = None,
    *,
    output: str | Path,
    name: str = "torch",
    tell: Callable[[str], None] = lambda _line: None,
) -> Path:
    """Make a task of networks that were trained in PyTorch, and return the directory of its models and data.

    Args:
        models: the networks, as pairs of a module and its hyperparameters, or as objects of `TorchModel`.
        train: the training data as the networks take them: arrays or tensors (inputs, labels), a `Dataset` of single
            examples, or a `DataLoader`; without augmentation.
        test: test data in the same form; without test data, every model needs its test accuracy.
        output: directory of tasks.
        name: name of the task.
        tell: is called with each note and each model's accuracies.

    Raises:
        UserError: a network cannot be exported or translated, its translation computes other outputs, or an argument is
            invalid. No files are left behind.
    """
    training, testing = arrays_of(train, "train"), None if test is None else arrays_of(test, "test")
    tested = None if testing is None else testing.channels_last
    order = ImportOrder(Path("models"), training.channels_last, tested, Path(output), name)
    require_free(order)
    with tempfile.TemporaryDirectory(prefix="pgdl-") as directory, named_in_errors(directory):
        found = [_model(given, number) for number, given in enumerate(models)]
        rows = [_exported(model, number, Path(directory), training, tell) for number, model in enumerate(found)]
        rows = _with_accuracies(found, rows)

        def say(line: str) -> None:
            tell(without_place(line, directory))

        import_models(order, _table(rows), say, say)
    return order.task


def _model(given: Any, number: int) -> TorchModel:
    if isinstance(given, TorchModel):
        return given
    if isinstance(given, tuple) and len(given) == 2 and isinstance(given[1], Mapping):
        return TorchModel(*given)
    expected = "a pair of a module and its hyperparameters, or a TorchModel"
    raise UserError(f"models[{number}]", expected=expected, found=type(given).__name__)


def _exported(
    model: TorchModel, number: int, directory: Path, data: Arrays, tell: Callable[[str], None]
) -> ImportedRow:
    where = f"models[{number}]"
    exporter = Exporter(model.module, where, tell)
    file, initial = directory / where, None if model.initial is None else directory / f"{where}.initial"
    outputs = exporter.outputs(data.inputs[:EXAMPLES])
    exporter.write(file, data.inputs)
    if initial is not None:
        exporter.write(initial, data.inputs, model.initial)
    hyperparameters = {str(name): _cell(where, name, value) for name, value in model.hyperparameters.items()}
    return ImportedRow(where, file, hyperparameters=hyperparameters, initial=initial, outputs=outputs)


def _cell(where: str, name: Any, value: Any) -> str:
    if hasattr(value, "item") and getattr(value, "shape", None) == ():
        value = value.item()
    if not isinstance(value, str | bool | int | float) or value == "":
        what, found = f"{where}: hyperparameters: {name}", "empty text" if value == "" else type(value).__name__
        raise UserError(what, expected="a number, text or a truth value", found=found)
    return str(value)


def _with_accuracies(models: Sequence[TorchModel], rows: Sequence[ImportedRow]) -> list[ImportedRow]:
    found = list(rows)
    for name in (TRAIN_ACCURACY, TEST_ACCURACY):
        cells = ["" if (value := getattr(model, name)) is None else str(float(value)) for model in models]
        rounding = rounding_of(cells)
        for number, (row, cell) in enumerate(zip(found, cells, strict=True)):
            stated = read_stated(row.where, name, cell, rounding)
            found[number] = replace(row, train=stated) if name == TRAIN_ACCURACY else replace(row, test=stated)
    return found


def _table(rows: Sequence[ImportedRow]) -> Table:
    if not rows:
        raise UserError("models", expected="at least 1", found="none")
    names = list(rows[0].hyperparameters)
    for row in rows:
        if list(row.hyperparameters) != names or not names:
            expected = f"the hyperparameters {', '.join(names)}" if names else "at least 1 hyperparameter"
            found = ", ".join(row.hyperparameters) or "none"
            raise UserError(f"{row.where}: hyperparameters", expected=expected, found=found)
    for name in names:
        require_hyperparameter("hyperparameters", name, [row.hyperparameters[name] for row in rows])
    text = io.StringIO()
    csv.writer(text).writerows([[FILE, *names], *([row.where, *row.hyperparameters.values()] for row in rows)])
    return Table(tuple(rows), grid_of("models", rows), text.getvalue())
