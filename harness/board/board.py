"""A board as data: ranked rows, the columns that describe them, and the calls behind them."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness.board.column import AnyColumn, Column, TaskColumn, per_row, per_task
from harness.board.columns import find_more
from harness.board.hyperparameters import Hyperparameters
from harness.board.oracle import Oracle
from harness.board.row import Row
from scoring import Comparison, Difference, Entry, rank


@dataclass(frozen=True)
class Layout:
    """The columns, notes and content of a board for readers and programs.

    Attributes:
        title: the title of the board, in formats that have titles.
        columns: the columns for readers.
        figures: the columns for programs, with all digits: a line per row.
        lines: the columns for programs with a line per row and task.
        notes: explanations of the numbers for readers, one per line, after the board's remarks.
        content: the whole board, as JSON lists and objects.
        is_faint: whether a row does not fully compete, and may be printed fainter than others.
        marks: explanations of what sets single rows or tasks apart, one per line, after the notes.
    """

    title: str
    columns: Sequence[AnyColumn]
    figures: Sequence[AnyColumn]
    lines: Sequence[AnyColumn]
    notes: "Callable[[Board], list[str]]"
    content: "Callable[[Board], Any]"
    is_faint: Callable[[Row], bool]
    marks: "Callable[[Board], list[str]]" = lambda _: []


@dataclass(frozen=True)
class Board:
    """Submissions on tasks, best first.

    Attributes:
        layout: its columns and notes.
        rows: the submissions.
        tasks: names of the tasks, in the order of their columns.
        remarks: notes on the records and tasks behind the rows, one per line.
        withheld: the tasks of which only rounded scores are shown.
        comparison: of the comparable rows, under their positions as text; None if no rows can be compared.
        is_scored: whether any of the tasks can have an official score; otherwise nobody has a rank.
        oracle: the noisy oracle, for comparison by eye alone.
        hyperparameters: the scores of hyperparameters alone, for comparison by eye alone.
        more: columns that the user requested in addition.
    """

    layout: Layout
    rows: Sequence[Row]
    tasks: Sequence[str]
    remarks: Sequence[str] = ()
    withheld: frozenset[str] = frozenset()
    comparison: Comparison | None = field(default=None, compare=False)
    is_scored: bool = True
    oracle: Oracle = field(default_factory=lambda: Oracle.of({}))
    hyperparameters: Hyperparameters = field(default_factory=Hyperparameters)
    more: Sequence[TaskColumn] = ()

    @cached_property
    def columns(self) -> list[Column[Row]]:
        """Columns for readers; all rows together decide which columns are needed."""
        found = per_row(self._with_more(self.layout.columns), self.tasks)
        return [one for one in found if one.is_shown(self.rows)]

    @property
    def figures(self) -> list[Column[Row]]:
        """Columns for programs, with all digits."""
        return per_row(self._with_more(self.layout.figures), self.tasks)

    @property
    def lines(self) -> Sequence[AnyColumn]:
        """Columns for programs, of a line per row and task."""
        return self._with_more(self.layout.lines)

    @property
    def notes(self) -> list[str]:
        """The remarks, and explanations of the numbers for readers, one per line."""
        return [*self.remarks, *self.layout.notes(self), *self.layout.marks(self)]

    @property
    def content(self) -> Any:
        """The whole board, as JSON lists and objects."""
        return self.layout.content(self)

    @property
    def headings(self) -> list[str]:
        """The titles of the columns."""
        return [column.heading for column in self.columns]

    @property
    def short_tasks(self) -> dict[str, str]:
        """Task -> its name without the words that all tasks begin with, such as `digits_`."""
        words = [name.split("_") for name in self.tasks]
        while len(words) > 1 and min(map(len, words)) > 1 and len({first for first, *_ in words}) == 1:
            words = [rest for _, *rest in words]
        return {name: "_".join(rest) or name for name, rest in zip(self.tasks, words, strict=True)}

    def cells(self, row: Row) -> list[str]:
        """Return the text of a row's cells, for readers."""
        return [column.shown(row) for column in self.columns]

    def difference(self, number: int, other: int) -> Difference | None:
        """Return the difference between the rows at two positions; None if they are not compared."""
        if self.comparison is None or not {str(number), str(other)} <= self.comparison.standings.keys():
            return None
        return self.comparison.difference(str(number), str(other))

    @cached_property
    def task_scores(self) -> NDArray[np.float64]:
        """Scores of the rows on each task that has an official score, in points, NaN for none: (n_tasks, n_rows)."""
        by_task = [[row.tasks[name].official for row in self.rows] for name in self.tasks]
        scores = np.array(by_task, dtype=np.float64).reshape(len(self.tasks), len(self.rows))
        return scores[~np.isnan(scores).all(axis=1)]

    def is_faint(self, row: Row) -> bool:
        """Whether to print the row fainter: it does not fully compete, while other rows do."""
        return self.layout.is_faint(row) and not all(map(self.layout.is_faint, self.rows))

    def lines_of(self, row: Row) -> list[dict[str, Any]]:
        """Return a row's lines, one per task."""
        return [per_task(self.lines, row, task) for task in self.tasks]

    def to_records(self) -> list[dict[str, Any]]:
        """Return a dictionary for each row, with all digits, as a `pandas.DataFrame` takes them."""
        figures = self.figures
        return [{column.key: column.value(row) for column in figures} for row in self.rows]

    def with_columns(self, keys: Iterable[str]) -> "Board":
        """Return the board with more scores of each task, by `columns.MORE`; raises `UserError` for another key."""
        return replace(self, more=[*self.more, *find_more(keys)])

    def _with_more(self, columns: Sequence[AnyColumn]) -> list[AnyColumn]:
        return [*columns, *(one for one in self.more if one not in columns)]


def rank_rows(rows: Iterable[Row], may_rank: Callable[[Row], bool]) -> list[Row]:
    """Return the rows, best first, each with its rank."""
    given = list(rows)
    entries = [Entry(row.submission, row.score, row.complete, may_rank(row)) for row in given]
    rows_by_entry = {id(entry): row for entry, row in zip(entries, given, strict=True)}  # names may repeat
    return [replace(rows_by_entry[id(ranked.entry)], rank=ranked.rank) for ranked in rank(entries)]
