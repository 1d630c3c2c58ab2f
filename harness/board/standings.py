"""Adds to the rows of a board how sure their scores and their order are."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from harness.board.row import Row
from scoring import Comparison, HeldOut, ScoreUndefined, TaskCalls, compare_submissions

#: Shown with the columns of intervals.
NOTE = (
    "interval: holds the score on average over new trainings of the same networks (90 %). ranks: those that a "
    "submission may have. Submissions of one group cannot be told apart. Explained in docs/statistics.md."
)

#: Shown where there are none because of withheld tasks.
WITHHELD_NOTE = "no intervals: they would reveal more about hidden tasks than rounded scores do."


def with_standings(rows: Sequence[Row], held_out: Mapping[str, HeldOut] | None) -> list[Row]:
    """Return the rows with their standings among all ranked ones; without any if a task is withheld.

    `held_out` has the test set of each task; None if that of some task is not known.
    """
    found = compare_rows(rows, held_out)
    if found is None:
        return list(rows)
    return [replace(row, standing=found.standings.get(str(number))) for number, row in enumerate(rows)]


def compare_rows(rows: Sequence[Row], held_out: Mapping[str, HeldOut] | None) -> Comparison | None:
    """Compare the ranked rows, under their positions as text; None if there is none to compare, or a withheld task."""
    values = {str(number): _values(row) for number, row in enumerate(rows) if row.rank is not None}
    compared = {name: tasks for name, tasks in values.items() if tasks is not None}
    if len(compared) < len(values):
        return None
    try:
        return compare_submissions(compared, held_out)
    except ScoreUndefined:  # no row is complete, or no task has an official score
        return None


def _values(row: Row) -> dict[str, TaskCalls] | None:
    """Return the row's values by task; None if a task is withheld."""
    tasks = {name: task.scored for name, task in row.tasks.items() if task.scored is not None}
    return tasks if len(tasks) == len(row.tasks) else None
