"""The columns of the platform's leaderboard.

The platform sorts by the first column, then by the next, with empty cells first. So the first column is the share of
calls with a value.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from harness.board.row import Row

LONGEST = 36  #: maximum length of a title or key in characters (`src/apps/leaderboards/models.py:59`)

#: Key of the column with the final scores of hidden phases, and its value until an organiser publishes a score. On the
#: platform, organisers can only change existing scores.
FINAL, NOT_YET = "final", -1.0


@dataclass(frozen=True)
class PlatformColumn:
    """A column of the platform's leaderboard."""

    key: str
    title: str
    value: Callable[[Row], float | None] = lambda _: None  #: row -> value; None for an empty cell
    sorting: str = "desc"  #: `desc` or `asc`
    precision: int = 2  #: number of decimals


def _standing(name: str) -> Callable[[Row], float | None]:
    return lambda row: None if row.standing is None else getattr(row.standing, name)


def completeness(row: Row) -> float:
    """Return the share of a row's calls that returned a value, in percent."""
    return 100 * row.calls_ok / row.calls_expected


COMPLETE = PlatformColumn("complete", "calls with a value, %", completeness, precision=1)
SECONDS = PlatformColumn("seconds", "s/model", lambda row: row.seconds_per_model, sorting="asc")
COLUMNS = (
    COMPLETE,
    PlatformColumn("score", "score", lambda row: row.score),
    PlatformColumn("low", "at least (90 %)", _standing("low"), precision=1),
    PlatformColumn("high", "at most (90 %)", _standing("high"), precision=1),
    PlatformColumn("chance", "chance", lambda row: row.chance_level, sorting="asc", precision=1),
    SECONDS,
)


def task_columns(tasks: Iterable[str]) -> dict[str, str]:
    """Return task -> key of the task's column, such as `task_0`."""
    return {task: f"task_{number}" for number, task in enumerate(dict.fromkeys(tasks))}


def described(tasks: Mapping[str, str], *, has_final: bool) -> list[dict[str, Any]]:
    """Return the columns as entries of competition.yaml. `tasks` maps public tasks to keys of columns."""
    final = [PlatformColumn(FINAL, f"final ({NOT_YET:g}: not yet)", precision=1)] if has_final else []
    found = [COMPLETE, *final, *COLUMNS[1:], *(PlatformColumn(key, task[:LONGEST]) for task, key in tasks.items())]
    return [
        {"title": one.title, "key": one.key, "index": index, "sorting": one.sorting, "precision": one.precision}
        for index, one in enumerate(found)
    ]


def scores_of(row: Row, tasks: Mapping[str, str]) -> dict[str, float]:
    """Return key of a column -> value of a row, without missing values. `tasks` maps tasks to keys of columns."""
    values = {one.key: one.value(row) for one in COLUMNS}
    values |= {tasks[name]: task.official for name, task in row.tasks.items()}
    return {key: value for key, value in values.items() if value is not None}


def verdict_of(row: Row) -> dict[str, float]:
    """Return key of a column -> value, for a row of a hidden phase, with a placeholder as final score."""
    values = {one.key: one.value(row) for one in (COMPLETE, SECONDS)} | {FINAL: NOT_YET}
    return {key: value for key, value in values.items() if value is not None}
