"""Reads the reference data that scores are computed from."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from harness.errors import UserError
from harness.execution.withhold import Withhold
from harness.task.layout import find_all, find_references, hidden_names
from harness.task.reference import Reference, read_reference
from scoring import ScoreUndefined


def read_references(root: Path, names: Sequence[str] = ()) -> dict[str, Reference]:
    """Return task name -> reference data of all tasks under `root`, or of `names`; raises `UserError`."""
    return {name: read_reference(path) for name, path in sorted(find_references(root, names).items())}


def withheld_tasks(root: Path, names: Sequence[str], withhold: Withhold) -> frozenset[str]:
    """Return the names of the tasks under `root` whose scores are published rounded; raises `UserError`."""
    files = find_all(root, names)
    hidden = hidden_names(files)
    return frozenset(task.name for task in files if withhold.covers(task.name in hidden))


@contextmanager
def undefined_scores(root: Path) -> Iterator[None]:
    """Turn a task on which no score has a meaning into a `UserError` that names it."""
    try:
        yield
    except ScoreUndefined as error:
        raise UserError(str(error), file=root) from error
