"""A comparison of measures: a row for each requested measure, every task scored separately."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from harness.board.board import Board, Column, rank_column, rank_rows, score_columns, task_figure
from harness.board.collect import Calls, collect
from harness.board.per_task import FIGURES, lines
from harness.board.rounding import rounding_note
from harness.board.row import Row, counted, make_row
from harness.board.scores import decimal
from harness.format.reference import Reference
from scoring import SubmissionScore, TaskScore, mean_score, score_submission

NOTES = (
    "Score: 100 times the official conditional mutual information, and its mean over the tasks that have one; every "
    "task is scored separately. A measure without a score on some task ranks below those with a score on every task.",
    "Kendall: rank correlation with the generalization gap, mean over the same tasks.",
    "s/model: median seconds of a call; shared work counts for the first measure that needs it.",
)
"""Explanations of the numbers for readers."""


@dataclass(frozen=True)
class Comparison(Board):
    """Measures on tasks; each row has its family."""

    title: ClassVar[str] = "Comparison"
    per_task: ClassVar[Sequence[str]] = tuple(FIGURES)

    @property
    def columns(self) -> Sequence[Column]:
        """Rank, measure, family, scores, Kendall's coefficient, time and failures."""
        return [
            rank_column(),
            Column("measure", lambda row: row.submission, "name"),
            Column("family", lambda row: row.family, "text"),
            *score_columns(self.tasks),
            Column("Kendall", lambda row: decimal(row.kendall, 3)),
            Column("s/model", lambda row: decimal(row.seconds_per_model, 3)),
            Column("failed", lambda row: counted(row.failures), "words"),
        ]

    @property
    def figures(self) -> Sequence[Column]:
        """Scores are 0 to 100; `score:TASK` is the score of one task, and `score` their mean."""
        return [
            Column("rank", lambda row: row.rank),
            *self.identity,
            Column("score", lambda row: row.score),
            *map(task_figure, self.tasks),
            Column("kendall", lambda row: row.kendall),
            *map(_kendall_figure, self.tasks),
            Column("seconds_per_model", lambda row: row.seconds_per_model),
            Column("models", lambda row: row.calls_expected),
            Column("failed", lambda row: row.failures.total()),
            Column("outcomes", lambda row: counted(row.failures), "text"),
            Column("reason", lambda row: row.reason, "text"),
        ]

    @property
    def identity(self) -> Sequence[Column]:
        """The measure and its family."""
        return [Column("measure", lambda row: row.submission, "text"), Column("family", lambda row: row.family, "text")]

    @property
    def notes(self) -> list[str]:
        """Reasons of failures, and explanations of the numbers."""
        failed: dict[str, list[str]] = {}
        for row in self.rows:
            if row.reason:
                failed.setdefault(row.reason, []).append(row.submission)
        reasons = [f"{', '.join(measures)}: {reason}" for reason, measures in failed.items()]
        return [*self.remarks, *reasons, *NOTES, *([rounding_note(self.withheld)] if self.withheld else [])]

    @property
    def content(self) -> Any:
        """A list of measures, each with its tasks; scores are 0 to 100, correlations -1 to 1."""
        head = ("rank", "measure", "family", "score", "kendall", "seconds_per_model")
        figures = {column.key: column for column in self.figures}
        return [
            {name: figures[name].value(row) for name in head}
            | {"complete": row.complete, "sandboxed": row.sandboxed, "tasks": lines(self, row)}
            for row in self.rows
        ]

    def is_faint(self, row: Row) -> bool:
        """Measures that lack a score on some task."""
        return not row.complete


def compare(
    evaluations: Iterable[Any],
    references: Mapping[str, Reference],
    families: Mapping[str, str],
    withheld: Collection[str] = (),
) -> Comparison:
    """Return the comparison, best first.

    Unlike under the competition's rule, every task is scored separately: a measure that exceeds its time on one task
    keeps its scores on the others. Measures without a score on some task rank below those with a score on every task,
    and above those without any score.

    Args:
        evaluations: the records of the requested calls, oldest first.
        references: task -> reference data.
        families: measure, with its parameters -> its family. Records of other submissions are ignored.
        withheld: tasks whose scores are rounded, and whose times and reasons are not shown.
    """
    collected = {calls.submission: calls for calls in collect(evaluations, references).shown}
    rows = []
    for measure, family in families.items():
        calls = collected.get(measure, Calls(measure, True, {}))
        row = make_row(calls, _score_each_task(calls, references), references, withheld)
        rows.append(replace(row, family=family))
    return Comparison(
        rank_rows(rows, lambda row: row.sandboxed), list(references), withheld=frozenset(withheld) & references.keys()
    )


def _score_each_task(calls: Calls, references: Mapping[str, Reference]) -> SubmissionScore:
    results = {task: score_submission({task: calls.on(task, known)}).tasks[task] for task, known in references.items()}
    complete = all(isinstance(result, TaskScore) for result in results.values())
    return SubmissionScore(mean_score(results.values()), results, complete, exceeded=False)


def _kendall_figure(task: str) -> Column:
    return Column(f"kendall:{task}", lambda row: row.tasks[task].kendall)
