"""Reads the reference data that scores are computed from."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from harness.errors import UserError
from harness.task.layout import find_references
from harness.task.reference import Reference, read_reference
from scoring import ScoreUndefined


def read_references(root: Path, names: Sequence[str] = ()) -> dict[str, Reference]:
    """Return task name -> reference data of all tasks under `root`, or of `names`; raises `UserError`."""
    return {name: read_reference(path) for name, path in sorted(find_references(root, names).items())}


@contextmanager
def undefined_scores(root: Path) -> Iterator[None]:
    """Turn a task on which no score has a meaning into a `UserError` that names it."""
    try:
        yield
    except ScoreUndefined as error:
        raise UserError(str(error), file=root) from error
