"""Ranks a board's rows, with the intervals of their scores and ranks."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from harness.board.board import Board
from harness.board.chance import with_chance, with_p_values
from harness.board.row import Row
from harness.format.reference import Reference
from scoring import Comparison, Entry, HeldOut, ScoreUndefined, compare_submissions, rank

#: Two notes: on the column `other tasks`, or on why it is missing.
OTHER_TASKS_NOTE = "other tasks: contains the mean score on other tasks like these (90 %)."
FEW_TASKS_NOTE = "Scores on other tasks like these cannot be judged from fewer than four scored tasks."


def held_out_sets(references: Mapping[str, Reference], n_test: Mapping[str, int | None]) -> dict[str, HeldOut] | None:
    """Return task -> test accuracies and size of the test set; None if any of these sizes is not known."""
    known: dict[str, HeldOut] = {}
    for name, reference in references.items():
        n_samples = n_test.get(name)
        if n_samples is None:
            return None
        known[name] = HeldOut([reference.test_accuracy[model] for model in reference.models], n_samples)
    return known


def notes_on_tasks(rows: Sequence[Row]) -> list[str]:
    """Return a note on the column `other tasks`, or on why it is missing; [] if no row has an interval."""
    known = [row.standing.tasks_low is not None for row in rows if row.standing is not None]
    return [OTHER_TASKS_NOTE if all(known) else FEW_TASKS_NOTE] if known else []


def ranked(board: Board, held_out: Mapping[str, HeldOut] | None = None) -> Board:
    """Return a board with its rows ranked, best first, and with their p-values and intervals.

    Rows that ran outside the sandbox, or were called on no task, come last and have no rank. No row has a rank if no
    task can have an official score. `held_out` maps each task to its test set. It is None if the size of a test set is
    not known.
    """
    rows = with_chance(board.rows)
    entries = [
        Entry(row.submission, row.score, row.complete, row.sandboxed and row.calls_expected > 0 and board.is_scored)
        for row in rows
    ]
    rows = with_p_values([replace(rows[one.position], rank=one.rank) for one in rank(entries)])
    compared = _compare(rows, held_out)
    standings = {} if compared is None else compared.standings
    rows = [replace(row, standing=standings.get(str(number))) for number, row in enumerate(rows)]
    return replace(board, rows=rows, comparison=compared)


def _compare(rows: Sequence[Row], held_out: Mapping[str, HeldOut] | None) -> Comparison | None:
    """Compare the ranked rows. In the result, the name of a row is its position as text, such as "0".

    Return None if no ranked row is complete, if no task has an official score, or if a task is hidden.
    """
    named = {str(number): row for number, row in enumerate(rows) if row.rank is not None}
    if any(row.rounded for row in named.values()):
        return None
    values = {name: {task: on.scored for task, on in row.tasks.items() if on.scored} for name, row in named.items()}
    try:
        return compare_submissions(values, held_out)
    except ScoreUndefined:  # no row is complete, or no task has an official score
        return None
