"""A board: its ranked rows, its columns, and the notes below it."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from html import escape
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from harness.board import formats
from harness.board.column import AnyColumn, Column, TaskColumn, per_row
from harness.board.columns import COLUMNS, TASK_SCORE, find_more
from harness.board.remarks import without_commands
from harness.board.row import Row
from harness.board.yardsticks import Yardsticks
from harness.text import safe_line
from scoring import Comparison, Difference


@dataclass(frozen=True)
class Board(ABC):
    """A board: its rows, best first, and everything that is shown with them. Each kind of board is a subclass."""

    title: ClassVar[str]
    kind: ClassVar[int]  #: position of this kind of board in `Column.uses`

    rows: Sequence[Row]
    tasks: Sequence[str]  #: names of the tasks, in the order of their columns
    remarks: Sequence[str] = ()  #: notes on the records and tasks, one per line
    withheld: frozenset[str] = frozenset()  #: names of the hidden tasks, whose scores are rounded
    comparison: Comparison | None = field(default=None, compare=False)  #: names rows by position: "0", "1", ...
    is_scored: bool = True  #: whether any task can have an official score; otherwise no row has a rank
    yardsticks: Yardsticks = field(default_factory=Yardsticks)
    more: Sequence[TaskColumn] = ()  #: columns that the user requested in addition

    def __repr__(self) -> str:
        return str(formats.find("table").render(self))

    def _repr_html_(self) -> str:
        """The table and remarks for notebooks."""
        lines = [self.headings, *map(self.cells, self.rows)]
        cells = ["".join(f"<td>{escape(safe_line(cell))}</td>" for cell in line) for line in lines]
        remarks = [f"<p>{escape(safe_line(line))}</p>" for line in [*self.remarks, *self.marks]]
        return f"<table>{''.join(f'<tr>{line}</tr>' for line in cells)}</table>{''.join(remarks)}"

    @cached_property
    def columns(self) -> list[Column[Row]]:
        """The columns of tables for readers. A single task's score has no column, because it is the final score."""
        chosen = [one for one in self.own_columns("r") if len(self.tasks) > 1 or one is not TASK_SCORE]
        found = per_row(self._with_more(chosen), self.tasks)
        return [one for one in found if one.is_shown(self.rows)]

    @property
    def figures(self) -> list[Column[Row]]:
        """The columns for files with a line for each row. Numbers have all digits."""
        return per_row(self._with_more(self.own_columns("f")), self.tasks)

    @property
    def lines(self) -> Sequence[AnyColumn]:
        """The columns for files with a line for each row on each task. Numbers have all digits."""
        return self._with_more(self.own_columns("t"))

    @property
    def notes(self) -> list[str]:
        """All texts below the board, one per line: remarks, explanations of numbers, explanations of unusual rows."""
        return [*self.remarks, *self.explanations, *self.marks]

    @property
    @abstractmethod
    def explanations(self) -> list[str]:
        """Explanations of the numbers, one per line."""

    @property
    def marks(self) -> list[str]:
        """Explanations of unusual rows and hidden tasks, one per line."""
        return []

    @property
    @abstractmethod
    def content(self) -> Any:
        """The whole board as lists and dictionaries for JSON."""

    @abstractmethod
    def is_secondary(self, row: Row) -> bool:
        """Return whether a row is less important than others, such as a baseline on a leaderboard."""

    @property
    def headings(self) -> list[str]:
        """The headings of `columns`, not necessarily unique."""
        return [column.heading for column in self.columns]

    @property
    def short_tasks(self) -> dict[str, str]:
        """Task -> its name without the first words that all names share, such as `digits_`."""
        words = [name.split("_") for name in self.tasks]
        while len(words) > 1 and min(map(len, words)) > 1 and len({first for first, *_ in words}) == 1:
            words = [rest for _, *rest in words]
        return {name: "_".join(rest) or name for name, rest in zip(self.tasks, words, strict=True)}

    def cells(self, row: Row) -> list[str]:
        """Return the texts of a row for readers, in the order of `columns`."""
        return [column.shown(row) for column in self.columns]

    def difference(self, number: int, other: int) -> Difference | None:
        """Return the score at position `number` minus the score at `other`; None if one of the rows has no interval."""
        if self.comparison is None or not {str(number), str(other)} <= self.comparison.standings.keys():
            return None
        return self.comparison.difference(str(number), str(other))

    @cached_property
    def task_scores(self) -> NDArray[np.float64]:
        """Official scores, 0 to 100, NaN if missing, shape (n_tasks, n_rows); tasks without any score are left out."""
        by_task = [[row.tasks[name].official for row in self.rows] for name in self.tasks]
        scores = np.array(by_task, dtype=np.float64).reshape(len(self.tasks), len(self.rows))
        return scores[~np.isnan(scores).all(axis=1)]

    def is_faint(self, row: Row) -> bool:
        """Return whether to print the row fainter than others."""
        return self.is_secondary(row) and not all(map(self.is_secondary, self.rows))

    def head_of(self, row: Row) -> dict[str, Any]:
        """Return key -> value of a row in JSON, apart from its results by task."""
        return {column.key: column.value(row) for column in per_row(self.own_columns("j"), tasks=())}

    def lines_of(self, row: Row) -> list[dict[str, Any]]:
        """Return a dictionary for each task: key of each column in `lines` -> the row's value on the task."""
        lines = self.lines
        return [
            {one.key: one.value(row.tasks[task]) if isinstance(one, TaskColumn) else one.value(row) for one in lines}
            for task in self.tasks
        ]

    def to_records(self) -> list[dict[str, Any]]:
        """Return a list for `pandas.DataFrame`, with a dictionary per row: key of each column in `figures` -> value."""
        figures = self.figures
        return [{column.key: column.value(row) for column in figures} for row in self.rows]

    @property
    def published(self) -> "Board":
        """The board as others may read it: its remarks lack command lines, which contain paths."""
        return replace(self, remarks=without_commands(self.remarks))

    def with_columns(self, keys: Iterable[str]) -> "Board":
        """Return the board with further columns for each task. Raise `UserError` for a key that `ON_REQUEST` lacks."""
        return replace(self, more=[*self.more, *find_more(keys)])

    def own_columns(self, use: str) -> list[AnyColumn]:
        """Return the columns that this kind of board has for `use`, a letter of `Column.uses`."""
        return [column for column in COLUMNS if use in column.uses[self.kind]]

    def _with_more(self, columns: Sequence[AnyColumn]) -> list[AnyColumn]:
        return [*columns, *(one for one in self.more if one not in columns)]
