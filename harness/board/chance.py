"""The level of chance and the p-value of rows: what must be known of a score before it is called a discovery."""

import contextlib
import json
import math
import os
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import scoring
from harness.board.row import OnTask, Row
from harness.cache import cache_directory, write_whole
from harness.digest import digest_of
from harness.errors import UserError
from scoring import Chance, compare_with_chance

Vector = NDArray[np.float64]

#: Enough for p-values of 0.0025 on a task; a thousand would double the time of a large board.
N_PERMUTATIONS = 400


def with_chance(rows: Sequence[Row]) -> list[Row]:
    """Return the rows with the level of chance on each task with an official score that is not withheld.

    Found once for the same values and gaps, and kept in the cache.
    """
    wanted = [(number, name) for number, row in enumerate(rows) for name, task in row.tasks.items() if _has_score(task)]
    with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        found = pool.map(lambda place: _chance_of(rows[place[0]].tasks[place[1]]), wanted)
    tasks = [dict(row.tasks) for row in rows]
    for (number, name), chance in zip(wanted, found, strict=True):
        tasks[number][name] = replace(tasks[number][name], chance=chance)
    return [replace(row, tasks=of_row) for row, of_row in zip(rows, tasks, strict=True)]


def _has_score(task: OnTask) -> bool:
    return task.scored is not None and task.official is not None


def _chance_of(task: OnTask) -> Chance:
    assert task.scored is not None
    grid, gaps = task.scored.grid, task.scored.gap
    values = np.array([task.scored.values[model] for model in grid.models], np.float64)  # a scored task has no failure
    gap = np.array([gaps[model] for model in grid.models], np.float64)
    entry = _cache_entry([_ranks(values), _ranks(gap), grid.codes], [N_PERMUTATIONS, grid.names, grid.sizes])
    known = _recall(entry)
    if known is None:
        known = compare_with_chance(values, gap, grid, N_PERMUTATIONS)
        _remember(entry, known)
    return known


def _ranks(values: Vector) -> Vector:
    """Numbers in the order of the values: nothing else of them counts."""
    return np.unique(values, return_inverse=True)[1].astype(np.float64)


def _cache_entry(arrays: Iterable[NDArray[Any]], rest: object) -> Path | None:
    """Return the file for a result that depends on some arrays and all code of `scoring`; None without a cache."""
    digest = sha256(f"{_code()} {rest}".encode())
    for array in arrays:
        digest.update(np.ascontiguousarray(array, np.float64).tobytes())
    try:
        return cache_directory("chance") / f"{digest.hexdigest()}.json"
    except UserError:  # a board can be made where nothing can be written
        return None


@lru_cache(maxsize=1)
def _code() -> str:
    files = sorted(Path(scoring.__file__).parent.glob("*.py"))
    return digest_of((file.name, file.read_bytes()) for file in files)


def _recall(entry: Path | None) -> Chance | None:
    """Return the entry's content, or None if it is missing or damaged."""
    if entry is None:
        return None
    try:
        found = json.loads(entry.read_bytes())
        pairs = {(a, b): float(p) for a, b, p in found["p_values"]}
        score, level, excess, p_value = (float(found[name]) for name in ("score", "level", "excess", "p_value"))
    except (OSError, ValueError, LookupError, TypeError):
        return None
    return Chance(score, level, excess, pairs, p_value) if math.isfinite(score) else None


def _remember(entry: Path | None, chance: Chance) -> None:
    """Write the entry atomically: another harness may be reading it."""
    if entry is not None:
        content = asdict(chance) | {"p_values": [[*pair, p_value] for pair, p_value in chance.p_values.items()]}
        with contextlib.suppress(OSError):
            write_whole(entry, json.dumps(content))
