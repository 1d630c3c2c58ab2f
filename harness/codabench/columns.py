"""The columns of the leaderboard, and what a submission has in them.

The platform orders by the first column, then by the others from left to right, and has empty cells before all others.
So the first tells complete submissions from those that lack a task and those without a score, as docs/outcomes.md does.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from harness.board.rounding import DECIMALS
from harness.board.row import Row

#: Longest title and key (`src/apps/leaderboards/models.py:59`).
LONGEST = 36


@dataclass(frozen=True)
class Column:
    """A column that every competition has."""

    key: str
    title: str
    value: Callable[[Row], float | None]
    sorting: str = "desc"
    precision: int = 2


def _standing(name: str) -> Callable[[Row], float | None]:
    return lambda row: None if row.standing is None else getattr(row.standing, name)


def _completeness(row: Row) -> int:
    if row.score is None:
        return 0
    return 2 if row.complete else 1


COLUMNS = (
    Column("complete", "complete (2), partly (1)", _completeness, precision=0),
    Column("score", "score", lambda row: row.score),
    Column("low", "at least (90 %)", _standing("low"), precision=1),
    Column("high", "at most (90 %)", _standing("high"), precision=1),
    Column("chance", "chance", lambda row: row.chance_level, sorting="asc", precision=1),
    Column("seconds", "s/model", lambda row: row.seconds_per_model, sorting="asc"),
)


def task_columns(tasks: Iterable[str]) -> dict[str, str]:
    """Return the key of the column of each task of a competition, in their order."""
    return {task: f"task_{number}" for number, task in enumerate(dict.fromkeys(tasks))}


def described(tasks: Mapping[str, str], hidden: Iterable[str]) -> list[dict[str, Any]]:
    """Return the columns as the platform is told of them: those above, and one for each task, by its key."""
    rounded = set(hidden)
    found = [(one.key, one.title, one.sorting, one.precision) for one in COLUMNS]
    found += [(key, task[:LONGEST], "desc", DECIMALS if task in rounded else 2) for task, key in tasks.items()]
    return [
        {"title": title, "key": key, "index": index, "sorting": sorting, "precision": precision}
        for index, (key, title, sorting, precision) in enumerate(found)
    ]


def scores_of(row: Row, tasks: Mapping[str, str]) -> dict[str, float]:
    """Return the values of a submission by key; what there is no value of has no entry."""
    values = {one.key: one.value(row) for one in COLUMNS}
    values |= {tasks[name]: task.official for name, task in row.tasks.items()}
    return {key: value for key, value in values.items() if value is not None}
