"""Comparisons of measures (`pgdl compare`): boards on which every task is scored separately."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any

from harness.board import columns, rankings
from harness.board.board import Board, Layout
from harness.board.collect import Calls
from harness.board.column import per_row
from harness.board.disclosure import disclosure_note
from harness.board.row import make_row
from harness.board.yardsticks import is_scored, score_yardsticks
from harness.format.reference import Reference
from scoring import SubmissionScore, mean_score, score_submission

#: Explanations of the numbers for readers.
NOTES = (
    "Score: 100 times the official conditional mutual information, and its mean over the tasks that have one; every "
    "task is scored separately. A measure that lacks some of these scores ranks below those that lack none.",
    columns.SECONDS_NOTE,
)

#: Explanations of the numbers on boards without hidden tasks.
NOTES_ON_OPEN_TASKS = (
    "Kendall: rank correlation with the generalization gap, mean over the same tasks; without a score, over all tasks.",
    "interval: contains the mean score on these tasks over new trainings of the same networks (90 %).",
    columns.CHANCE_NOTE,
)


def _notes(board: Board) -> list[str]:
    failed: dict[str, list[str]] = {}
    for row in board.rows:
        if row.reason:
            failed.setdefault(row.reason, []).append(row.submission)
    reasons = [f"{', '.join(measures)}: {reason}" for reason, measures in failed.items()]
    beyond = [columns.BEYOND_NOTE] if columns.BEYOND in board.columns else []
    others = [disclosure_note(board.withheld)] if board.withheld else NOTES_ON_OPEN_TASKS
    tasks = rankings.notes_on_tasks(board.rows)
    return [*reasons, *NOTES, *others, *board.yardsticks.notes_on_fit, *beyond, *tasks]


def _content(board: Board) -> list[dict[str, Any]]:
    return [
        {column.key: column.value(row) for column in HEAD}
        | {"complete": row.complete, "sandboxed": row.sandboxed, "tasks": board.lines_of(row)}
        for row in board.rows
    ]


HEAD = per_row(
    columns.of_comparison("j"), tasks=()
)  #: the columns of a measure in JSON, apart from its results by task

COMPARISON = Layout(
    "Comparison",
    columns=columns.of_comparison("r"),
    figures=columns.of_comparison("f"),
    lines=columns.of_comparison("t"),
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
    """Return the board that compares measures, best first.

    Unlike on the leaderboard, a measure that exceeds the time limit on one task keeps its scores on other tasks. A
    measure that was called on no task has no rank, and no measure has a rank if no task can have an official score.

    Args:
        called: the calls of each measure.
        references: task -> its reference data.
        families: measure -> its family.
        withheld: the hidden tasks, on which scores are rounded.
        left_out: (measure, task) -> why the measure was not called on the task.
    """
    rows = []
    for calls in called:
        measure = calls.submission
        row = make_row(calls, _score_each_task(calls, references), references, withheld)
        tasks = dict(row.tasks)
        for name in tasks:
            if (reason := (left_out or {}).get((measure, name))) is not None:
                why = f"left out: {reason}"
                tasks[name] = replace(tasks[name], result=why, n_models=0, failures=Counter(), calls={})
        rows.append(replace(row, family=families[measure], tasks=tasks))
    hidden = frozenset(withheld) & references.keys()
    public = {name: reference for name, reference in references.items() if name not in hidden}
    board = Board(
        COMPARISON, rows, list(references), withheld=hidden, is_scored=is_scored(references),
        yardsticks=score_yardsticks(public, references),
    )  # fmt: skip
    return rankings.ranked(board)


def _score_each_task(calls: Calls, references: Mapping[str, Reference]) -> SubmissionScore:
    each = {task: score_submission({task: calls.on(task, reference)}) for task, reference in references.items()}
    results = {task: one.tasks[task] for task, one in each.items()}
    return SubmissionScore(mean_score(results.values()), results, all(one.complete for one in each.values()), False)
