"""Rows that tests write, the rows of a database, and databases that refuse rows."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from harness.records import Evaluation
from tests.records.evaluation_rows import evaluation
from tests.records.statements import execute


def rows(count: int, start: int = 0) -> list[Evaluation]:
    return [evaluation(model=f"model_{number}", value=float(number)) for number in range(start, start + count)]


def values(location: str) -> list[float]:
    return [value for (value,) in execute(location, "select value from evaluations order by id")]


def kept_file(cache: Path) -> Path:
    (file,) = (cache / "unwritten").glob("*.db")
    return file


@contextmanager
def refusing(location: str) -> Iterator[None]:
    """In the context, the database takes no records."""
    execute(location, "alter table evaluations rename to gone")
    yield
    execute(location, "alter table gone rename to evaluations")
