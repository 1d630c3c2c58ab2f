"""The `.predict` files of the PGDL competition of 2020: a file for each task with a JSON object, model -> value."""

import json
import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.board.collect import value_of
from harness.errors import UserError, require_directory
from harness.format.files import read_json
from harness.format.layout import model_name
from harness.format.reference import Reference
from scoring import Failure

if TYPE_CHECKING:
    from harness.records import Record

EXCEEDED = "EXCEEDED"  #: replaces a value if the call exceeded its time limit

Value = int | float | Failure


def read_predictions(directory: Path, references: Mapping[str, Reference]) -> dict[str, dict[str, float | Failure]]:
    """Return task -> model -> value or failure, from the files TASK.predict in `directory`.

    A task without a file has no values. Raise `UserError` if no file exists, a file is malformed, or a model has no
    reference data.
    """
    require_directory(directory, expected="a directory with TASK.predict files")
    files = {name: directory / f"{name}.predict" for name in references}
    if not any(file.exists() for file in files.values()):
        found = ", ".join(sorted(file.name for file in directory.glob("*.predict"))) or "no .predict file"
        expected = " or ".join(file.name for file in files.values())
        raise UserError("no predictions", file=directory, expected=expected, found=found)
    return {name: _read(file, references[name]) if file.exists() else {} for name, file in files.items()}


def predictions_of(rows: Iterable["Record"]) -> dict[str, bytes]:
    """Return the `.predict` files of a submission: name of a file -> content. A timeout has the value `EXCEEDED`."""
    tasks: dict[str, dict[str, float | str]] = {}
    for row in rows:
        value, task = value_of(row), tasks.setdefault(row.task, {})
        if not isinstance(value, Failure):
            task[row.model] = value
        elif value.exceeded:
            task[row.model] = EXCEEDED
    return {f"{name}.predict": json.dumps(dict(sorted(models.items()))).encode() for name, models in tasks.items()}


def _read(file: Path, reference: Reference) -> dict[str, float | Failure]:
    values: dict[str, Value] = {}
    for model, value in read_json(file).items():
        name = model_name(model)
        if name in values:
            raise UserError(f"two values for {name}", file=file, expected="one value per model")
        values[name] = _value(file, model, value)
    unknown = sorted(set(values) - set(reference.models))
    if unknown:
        found = ", ".join(unknown[:3]) + (" ..." if len(unknown) > 3 else "")
        raise UserError("models that the reference data does not know", file=file, found=found)
    return _as_floats(values)


def _value(file: Path, model: str, value: Any) -> Value:
    if value == EXCEEDED:
        return Failure(EXCEEDED, exceeded=True)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise UserError(model, file=file, expected=f"a number or {EXCEEDED!r}", found=repr(value))
    return value


def _as_floats(values: Mapping[str, Value]) -> dict[str, float | Failure]:
    """Return the values as floats. If a value is infinite, or has no exact float, all values are replaced by ranks.

    Scores depend only on the order of values. So infinite numbers and long integers can be scored, as in the
    competition's program.
    """
    numbers = [
        one for one in values.values() if isinstance(one, int) or (isinstance(one, float) and not math.isnan(one))
    ]
    if all(map(_is_held, numbers)):
        floats = {number: float(number) for number in numbers}
    else:
        floats = {number: float(rank) for rank, number in enumerate(sorted(set(numbers)))}
    return {name: one if isinstance(one, Failure) else floats.get(one, math.nan) for name, one in values.items()}


def _is_held(number: float) -> bool:
    try:
        return math.isfinite(number) and float(number) == number
    except OverflowError:
        return False
