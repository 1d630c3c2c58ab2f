"""Comparisons of measures (`pgdl compare`): boards on which every task is scored separately."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any

from harness.board import columns, rankings
from harness.board.board import Board
from harness.board.collect import Calls
from harness.board.disclosure import disclosure_note
from harness.board.row import Row, make_row
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


class MeasureComparison(Board):
    """The board that compares measures."""

    title, kind = "Comparison", 1

    @property
    def explanations(self) -> list[str]:
        """The reasons for missing scores, explanations of the numbers, and the score of a fit by hyperparameters."""
        failed: dict[str, list[str]] = {}
        for row in self.rows:
            if row.reason:
                failed.setdefault(row.reason, []).append(row.submission)
        reasons = [f"{', '.join(measures)}: {reason}" for reason, measures in failed.items()]
        beyond = [columns.BEYOND_NOTE] if columns.BEYOND in self.columns else []
        others = [disclosure_note(self.withheld)] if self.withheld else NOTES_ON_OPEN_TASKS
        tasks = rankings.notes_on_tasks(self.rows)
        return [*reasons, *NOTES, *others, *self.yardsticks.notes_on_fit, *beyond, *tasks]

    @property
    def content(self) -> list[dict[str, Any]]:
        """The rows for JSON."""
        return [
            self.head_of(row) | {"complete": row.complete, "sandboxed": row.sandboxed, "tasks": self.lines_of(row)}
            for row in self.rows
        ]

    def is_secondary(self, row: Row) -> bool:
        """Return whether the row's measure lacks a score on a task that can have a score."""
        return not row.complete


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
    board = MeasureComparison(
        rows, list(references), withheld=hidden, is_scored=is_scored(references),
        yardsticks=score_yardsticks(public, references),
    )  # fmt: skip
    return rankings.ranked(board)


def _score_each_task(calls: Calls, references: Mapping[str, Reference]) -> SubmissionScore:
    each = {task: score_submission({task: calls.on(task, reference)}) for task, reference in references.items()}
    results = {task: one.tasks[task] for task, one in each.items()}
    return SubmissionScore(mean_score(results.values()), results, all(one.complete for one in each.values()), False)
