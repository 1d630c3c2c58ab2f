"""The level of chance and the p-value of rows: what must be known of a score before it is called a discovery."""

import contextlib
import json
import math
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import scoring
from harness.board.row import OnTask, Row, Vector, vectors_of
from harness.cache import cache_directory, write_whole
from harness.cores import available_cores
from harness.digest import digest_of_code
from harness.errors import UserError
from scoring import Chance, compare_with_chance

#: Enough for p-values of 0.0025 on a task; a thousand would double the time of a large board.
N_PERMUTATIONS = 400


def with_chance(rows: Sequence[Row]) -> list[Row]:
    """Return the rows with the level of chance on each task with an official score that is not withheld.

    Found once for the same values and gaps, and kept in the cache.
    """
    tasks = [task for row in rows for task in row.tasks.values()]
    with ThreadPoolExecutor(available_cores()) as pool:
        found = pool.map(_with_chance, tasks)
    return [replace(row, tasks={name: next(found) for name in row.tasks}) for row in rows]


def _with_chance(task: OnTask) -> OnTask:
    if task.scored is None or task.official is None:
        return task
    (values, gaps), grid = vectors_of(task.scored), task.scored.grid
    entry = _cache_entry([_ranks(values), _ranks(gaps), grid.codes], [N_PERMUTATIONS, grid.names, grid.sizes])
    known = _recall(entry)
    if known is None:
        known = compare_with_chance(values, gaps, grid, N_PERMUTATIONS)
        _remember(entry, known)
    return replace(task, chance=known)


def _ranks(values: Vector) -> Vector:
    """Numbers in the order of the values: nothing else of them counts."""
    return np.unique(values, return_inverse=True)[1].astype(np.float64)


def _cache_entry(arrays: Iterable[NDArray[Any]], rest: object) -> Path | None:
    """Return the file for a result that depends on some arrays and all code of `scoring`; None without a cache."""
    digest = sha256(f"{digest_of_code(Path(scoring.__file__).parent)} {rest}".encode())
    for array in arrays:
        digest.update(np.ascontiguousarray(array, np.float64).tobytes())
    try:
        return cache_directory("chance") / f"{digest.hexdigest()}.json"
    except UserError:  # a board can be made where nothing can be written
        return None


def _recall(entry: Path | None) -> Chance | None:
    """Return the entry's content, or None if it is missing or damaged."""
    if entry is None:
        return None
    try:
        found = json.loads(entry.read_bytes())
        p_values = {(a, b): float(p_value) for a, b, p_value in found["p_values"]}
        known = Chance(float(found["score"]), float(found["level"]), p_values)
    except (OSError, ValueError, LookupError, TypeError):
        return None
    return known if p_values and math.isfinite(known.excess) else None


def _remember(entry: Path | None, chance: Chance) -> None:
    """Write the entry atomically: another harness may be reading it."""
    if entry is not None:
        content = asdict(chance) | {"p_values": [[*pair, p_value] for pair, p_value in chance.p_values.items()]}
        with contextlib.suppress(OSError):
            write_whole(entry, json.dumps(content))
