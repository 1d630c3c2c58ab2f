"""Reads the competition's own `.predict` files: one JSON object per task, model id -> value."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from harness.errors import UserError
from harness.format.files import read_json
from harness.format.layout import model_name
from harness.format.reference import Reference
from scoring import Failure

#: Value written by the competition's ingestion program for a model once the time was used up.
EXCEEDED = "EXCEEDED"


def read_predictions(directory: Path, references: Mapping[str, Reference]) -> dict[str, dict[str, float | Failure]]:
    """Return task -> model -> value or failure, from the files TASK.predict in `directory`.

    A task without a file has no values. Raises `UserError` for a directory without any, a malformed file,
    or a model that is not in the reference data.
    """
    if not directory.is_dir():
        raise UserError("not a directory", file=directory, expected="a directory with TASK.predict files")
    files = {name: directory / f"{name}.predict" for name in references}
    if not any(file.exists() for file in files.values()):
        found = ", ".join(sorted(file.name for file in directory.glob("*.predict"))) or "no .predict file"
        raise UserError(
            "no predictions",
            file=directory,
            expected=" or ".join(f.name for f in files.values()),
            found=found,
        )
    return {name: _read(file, references[name]) if file.exists() else {} for name, file in files.items()}


def _read(file: Path, reference: Reference) -> dict[str, float | Failure]:
    values: dict[str, float | Failure] = {}
    for model, value in read_json(file).items():
        name = model_name(model)
        if name in values:
            raise UserError(f"two values for {name}", file=file, expected="one value per model")
        values[name] = _value(file, model, value)
    unknown = sorted(set(values) - set(reference.models))
    if unknown:
        found = ", ".join(unknown[:3]) + (" ..." if len(unknown) > 3 else "")
        raise UserError("models that the reference data does not know", file=file, found=found)
    return values


def _value(file: Path, model: str, value: Any) -> float | Failure:
    if value == EXCEEDED:
        return Failure(EXCEEDED, exceeded=True)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise UserError(model, file=file, expected=f"a number or {EXCEEDED!r}", found=repr(value))
    try:
        return float(value)
    except OverflowError as error:
        raise UserError(model, file=file, expected="a number that a float can hold", found="a larger one") from error
