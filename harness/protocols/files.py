"""The files that a protocol writes into the directory of its results."""

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path

from harness.errors import writing


def write_csv(file: Path, headings: Sequence[str], rows: Iterable[Sequence[object]]) -> Path:
    """Write a table and return its path; raises `UserError` if that is not possible."""
    with writing(file), file.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(headings)
        writer.writerows(rows)
    return file
