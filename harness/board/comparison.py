"""A comparison of measures: a row for each requested measure, every task scored separately."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any

from harness.board import columns, rankings
from harness.board.board import Board, Layout, rank_rows
from harness.board.chance import with_chance, with_p_values
from harness.board.collect import Calls
from harness.board.column import per_row
from harness.board.disclosure import disclosure_note
from harness.board.hyperparameters import score_hyperparameters
from harness.board.layouts import comparison
from harness.board.row import make_row
from harness.format.reference import Reference
from scoring import SubmissionScore, TaskScore, mean_score, score_submission

NOTES = (
    "Score: 100 times the official conditional mutual information, and its mean over the tasks that have one; every "
    "task is scored separately. A measure without a score on some task ranks below those with a score on every task.",
    "s/model: median seconds of a call; shared work counts for the first measure that needs it.",
)
"""Explanations of the numbers for readers."""

NOTES_ON_OPEN_TASKS = (
    "Kendall: rank correlation with the generalization gap, mean over the same tasks.",
    "interval: on these tasks, trained anew: holds the score on average over new trainings (90 %).",
    columns.CHANCE_NOTE,
)
"""Explanations of numbers that boards with a hidden task do not have."""


def _notes(board: Board) -> list[str]:
    """Reasons of failures, and explanations of the numbers."""
    failed: dict[str, list[str]] = {}
    for row in board.rows:
        if row.reason:
            failed.setdefault(row.reason, []).append(row.submission)
    reasons = [f"{', '.join(measures)}: {reason}" for reason, measures in failed.items()]
    beyond = [columns.BEYOND_NOTE] if columns.BEYOND in board.columns else []
    others = [disclosure_note(board.withheld)] if board.withheld else NOTES_ON_OPEN_TASKS
    tasks = rankings.notes_on_tasks(board.rows)
    return [*reasons, *NOTES, *others, *board.hyperparameters.notes, *beyond, *tasks]


def _content(board: Board) -> list[dict[str, Any]]:
    """A list of measures, each with its tasks; scores are 0 to 100, correlations -1 to 1."""
    return [
        {column.key: column.value(row) for column in HEAD}
        | {"complete": row.complete, "sandboxed": row.sandboxed, "tasks": board.lines_of(row)}
        for row in board.rows
    ]


#: Keys of a measure in JSON, before its tasks.
HEAD = per_row(comparison("j"), tasks=())

#: Layout of measures on tasks, with a family for each row. A measure without a score on some task is faint.
COMPARISON = Layout(
    "Comparison",
    columns=comparison("r"),
    figures=comparison("f"),
    lines=comparison("t"),
    notes=_notes,
    content=_content,
    is_faint=lambda row: not row.complete,
)


def compare_calls(
    called: Iterable[Calls],
    references: Mapping[str, Reference],
    families: Mapping[str, str],
    withheld: Collection[str] = (),
    left_out: Mapping[tuple[str, str], str] | None = None,
) -> Board:
    """Return the comparison of measures by their calls, one row each, best first.

    Unlike under the competition's rule, every task is scored separately: a measure that exceeds its time on one task
    keeps its scores on the others. Measures without a score on some task rank below those with a score on every task,
    and above measures without any score; a measure that was called on no task has no rank.

    Args:
        called: the calls of each measure.
        references: task -> reference data.
        families: measure with parameters -> family.
        withheld: tasks whose scores are rounded, and whose times and reasons are not shown.
        left_out: measures that were not called on a task, as (measure, task), with the reasons.
    """
    rows = []
    for calls in called:
        measure = calls.submission
        row = make_row(calls, _score_each_task(calls, references), references, withheld)
        reasons = {task: why for (name, task), why in (left_out or {}).items() if name == measure}
        tasks = {name: task.left_out(reasons[name]) if name in reasons else task for name, task in row.tasks.items()}
        rows.append(replace(row, family=families[measure], tasks=tasks))
    ranked = rank_rows(with_chance(rows), lambda row: row.sandboxed and row.calls_expected > 0)
    ranked = rankings.with_standings(with_p_values(ranked), rankings.compare_rows(ranked, held_out=None))
    hidden = frozenset(withheld) & references.keys()
    told = score_hyperparameters(references, hidden)
    return Board(COMPARISON, ranked, list(references), withheld=hidden, hyperparameters=told)


def _score_each_task(calls: Calls, references: Mapping[str, Reference]) -> SubmissionScore:
    results = {task: score_submission({task: calls.on(task, known)}).tasks[task] for task, known in references.items()}
    complete = all(isinstance(result, TaskScore) for result in results.values())
    return SubmissionScore(mean_score(results.values()), results, complete, exceeded=False)
