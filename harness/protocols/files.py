"""Writes tables as CSV, and keeps the arrays that a protocol has computed for a network in the cache."""

import csv
import io
import json
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import harness
from harness.cache import MORE_ROOM, cache_directory, write_whole
from harness.errors import writing
from harness.format.archive import DAMAGE

Arrays = dict[str, NDArray[Any]]


def write_csv(file: Path, rows: Sequence[Mapping[str, object]]) -> Path:
    """Write rows (column -> cell) to `file` as CSV, and return `file`; raise `UserError` if that fails."""
    with writing(file), file.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return file


def part_file(protocol: str, **key: object) -> Path:
    """Return the path in the cache for the arrays that a protocol computes for a network.

    `key` holds everything that determines the arrays, such as digests of model and data, settings, library versions.
    """
    text = json.dumps({"harness": harness.__version__} | key, sort_keys=True)
    return cache_directory(f"protocols/{protocol}") / f"{sha256(text.encode()).hexdigest()}.npz"


def read_part(file: Path) -> Arrays | None:
    """Return name -> array from a file in the cache; None if the file is missing or damaged."""
    try:
        with np.load(file) as archive:
            return dict(archive)
    except (OSError, *DAMAGE):
        return None


def read_parts(files: Mapping[str, Path]) -> dict[str, Arrays]:
    """Return model id -> arrays from files in the cache; missing and damaged files are left out."""
    return {name: part for name, file in files.items() if (part := read_part(file)) is not None}


def write_part(file: Path, **arrays: Any) -> None:
    """Write named arrays to a file in the cache. An interruption leaves no incomplete file.

    Raise `UserError` if the file cannot be written.
    """
    content = io.BytesIO()
    np.savez_compressed(content, **arrays)
    with writing(file, remedy=MORE_ROOM):
        write_whole(file, content.getvalue())
