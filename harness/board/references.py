"""Reads the reference data that scores are computed from."""

from collections.abc import Sequence
from pathlib import Path

from harness.task.layout import find_references
from harness.task.reference import Reference, read_reference


def read_references(root: Path, names: Sequence[str] = ()) -> dict[str, Reference]:
    """Return task name -> reference data of all tasks under `root`, or of `names`; raises `UserError`."""
    return {name: read_reference(path) for name, path in sorted(find_references(root, names).items())}
