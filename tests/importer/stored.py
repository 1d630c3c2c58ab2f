"""Stored models of tests, in the canonical form that a worker reads."""

from pathlib import Path

from harness.format.architecture import ModelShapes
from harness.importer.model import StoredModel
from harness.importer.run import write_model
from harness.importer.table import ImportedRow
from harness.task.model import read_model


def stored(directory: Path, file: str, weights: str | None) -> StoredModel:
    """Return the model in a file; `weights` names the file of its weights if they are in another."""
    return StoredModel(ImportedRow("models.csv: line 2", directory / file, weights and directory / weights))


def write_canonical(model: StoredModel, shapes: ModelShapes | str, task: Path, canonical: Path) -> None:
    """Import a model to the new directory `task`, and write its canonical form to the new directory `canonical`."""
    assert not isinstance(shapes, str), shapes
    write_model(model, shapes, task)
    canonical.mkdir(parents=True)
    read_model(task, model.architecture, shapes).write_canonical(canonical)
