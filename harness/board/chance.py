"""Chance scores and p-values of a board's rows, from random permutations of their values."""

import contextlib
import io
import zipfile
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from hashlib import sha256
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import scoring
from harness.board.on_task import OnTask, Vector, vectors_of
from harness.board.row import Row
from harness.cache import cache_file, write_whole
from harness.cores import available_cores
from harness.digest import digest_of_code
from harness.task.task_notes import N_PERMUTATIONS
from scoring import MOST_RESAMPLED, Chance, Grid, adjusted_p_values, compare_with_chance, p_values, smallest_p_value

MANY = 250  #: number of rows above which a board uses half of the permutations


def with_chance(rows: Sequence[Row]) -> list[Row]:
    """Return the rows after computing `OnTask.chance` on each public task with an official score."""
    tasks = [task for row in rows for task in row.tasks.values()]
    is_large = len(rows) > MANY or any(task.n_models > MOST_RESAMPLED for task in tasks)
    n_permutations = N_PERMUTATIONS // 2 if is_large else N_PERMUTATIONS
    pool = ThreadPoolExecutor(available_cores())
    try:
        found = pool.map(partial(_with_chance, n_permutations=n_permutations), tasks)
        return [replace(row, tasks={name: next(found) for name in row.tasks}) for row in rows]
    finally:
        pool.shutdown(cancel_futures=True)  # an interrupted command must not wait for the remaining tasks


def with_p_values(rows: Sequence[Row]) -> list[Row]:
    """Return the rows after adding p-values; complete ranked rows also get adjusted p-values.

    There are no p-values on hidden tasks, and none for the final score of a row with a hidden task, or with a call that
    exceeded its time.
    """
    known = [number for number, row in enumerate(rows) if _chances(row)]
    own = dict(zip(known, p_values([_chances(rows[number]) for number in known]).tolist(), strict=True))
    adjusted = _adjusted(rows, _chances)
    by_task = {name: _adjusted(rows, partial(_chances, task=name)) for row in rows[:1] for name in row.tasks}
    return [
        replace(
            row, p_value=own.get(number), adjusted_p_value=adjusted.get(number),
            tasks={
                name: replace(task, adjusted_p_value=by_task[name].get(number)) for name, task in row.tasks.items()
            },
        )
        for number, row in enumerate(rows)
    ]  # fmt: skip


def _adjusted(rows: Sequence[Row], chances: Callable[[Row], dict[str, Chance]]) -> dict[int, float]:
    """Return position -> p-value for the complete ranked rows for which `chances` returns chance scores.

    The p-values are adjusted for the number of these rows.
    """
    found = {
        n: known for n, row in enumerate(rows) if row.rank is not None and row.complete and (known := chances(row))
    }
    return dict(zip(found, adjusted_p_values([*found.values()]).tolist(), strict=True))


def _chances(row: Row, task: str = "") -> dict[str, Chance]:
    """Return the chance scores of each task, or only of `task`.

    Without `task`, return {} for a row without a level of chance, such as a row with a hidden task.
    """
    if not task and row.chance_level is None:
        return {}
    return {name: on.chance for name, on in row.tasks.items() if on.chance is not None and task in ("", name)}


def _with_chance(task: OnTask, n_permutations: int) -> OnTask:
    if task.scored is None or task.official is None:
        return task
    (values, gaps), grid = vectors_of(task.scored), task.scored.grid
    entry = _cache_entry([_ranks(values), _ranks(gaps), grid.codes], [n_permutations, grid.names, grid.sizes])
    known = _recall(entry, grid, n_permutations)
    if known is None:
        known = compare_with_chance(values, gaps, grid, n_permutations)
        _remember(entry, known)
    return replace(task, chance=known)


def _ranks(values: Vector) -> Vector:
    return np.unique(values, return_inverse=True)[1].astype(np.float64)  # scores depend only on the order of values


def _cache_entry(arrays: Iterable[NDArray[Any]], rest: object) -> Path | None:
    digest = sha256(f"{digest_of_code(Path(scoring.__file__).parent)} {rest}".encode())
    for array in arrays:
        digest.update(np.ascontiguousarray(array, np.float64).tobytes())
    return cache_file("chance", f"{digest.hexdigest()}.npz")


def _recall(entry: Path | None, grid: Grid, n_permutations: int) -> Chance | None:
    if entry is None:
        return None
    try:
        with np.load(io.BytesIO(entry.read_bytes())) as found:
            known, dealt = found["known"], found["dealt"]
        pairs = list(combinations(grid.names, 2))
        expected = ((2,), (len(pairs), n_permutations))
        if (known.shape, dealt.shape) != expected or not np.isfinite([*known, dealt.sum()]).all():
            return None
        return Chance(float(known[0]), float(known[1]), smallest_p_value(grid), dict(zip(pairs, dealt, strict=True)))
    # Early releases of Python 3.11 and 3.12 raise SystemError if two threads read headers of arrays at once.
    except (OSError, ValueError, LookupError, EOFError, SystemError, zipfile.BadZipFile):
        return None


def _remember(entry: Path | None, chance: Chance) -> None:
    if entry is not None:
        content = io.BytesIO()
        np.savez(content, known=[chance.score, chance.level], dealt=[*chance.dealt.values()])
        with contextlib.suppress(OSError):
            write_whole(entry, content.getvalue())
