"""The files of a protocol: tables of its results, and finished parts in the cache.

After an interruption, the same command continues from the parts.
"""

import csv
import json
import os
from collections.abc import Iterable, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import harness
from harness.cache import cache_directory
from harness.errors import writing
from harness.format.archive import DAMAGE

Arrays = dict[str, NDArray[Any]]


def write_csv(file: Path, headings: Sequence[str], rows: Iterable[Sequence[object]]) -> Path:
    """Write a table and return its path; raises `UserError` if that is not possible."""
    with writing(file), file.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(headings)
        writer.writerows(rows)
    return file


def part_file(protocol: str, **key: object) -> Path:
    """Return the file of a part.

    `key` holds everything that the part depends on, as JSON: digests of model and data, settings, versions. The version
    of the harness is added.
    """
    text = json.dumps({"harness": harness.__version__} | key, sort_keys=True)
    return cache_directory(f"protocols/{protocol}") / f"{sha256(text.encode()).hexdigest()}.npz"


def read_part(file: Path) -> Arrays | None:
    """Return the arrays of a part, or None if it is missing or damaged."""
    try:
        with np.load(file) as archive:
            return dict(archive)
    except (OSError, *DAMAGE):
        return None


def write_part(file: Path, **arrays: Any) -> None:
    """Write the arrays of a part, whose file gets its name only when it is complete."""
    temporary = file.with_suffix(f".{os.getpid()}.partial")
    with temporary.open("wb") as stream:
        np.savez_compressed(stream, **arrays)
    temporary.replace(file)
