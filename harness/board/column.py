"""Columns of a board: `Column` shows a property of a row, `TaskColumn` a property of a row's results on one task."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar

from harness.board.on_task import OnTask
from harness.board.row import Row
from harness.board.scores import decimal

#: The format of a column. Numbers and places are aligned to the right, but places on web pages to the left. Names are
#: never shortened or wrapped; words may be wrapped. A place is a rank.
Kind = Literal["number", "place", "name", "text", "words"]

T = TypeVar("T")


@dataclass(frozen=True)
class Column(Generic[T]):
    """A column of a board. The values come from rows (`Row`), or from a row's results on one task (`OnTask`)."""

    key: str  #: unique on a board; the column's heading in files for programs
    value: Callable[[T], Any]  #: returns text, a number or None, for programs and for sorting
    type: type = float  #: type of the values
    text: Callable[[T], str] | None = None  #: returns the text for readers; by default the value, or a dash for None
    title: str | None = None  #: heading for readers, if it differs from the key
    kind: Kind = "number"
    digits: int = 2  #: decimals of a float if `text` is None
    unit: str = ""
    optional: bool = False  #: whether tables for readers leave the column out if no row has a value
    varying: bool = False  #: whether tables for readers leave the column out if all rows have the same value
    spare: int = 0  #: columns with the largest number are the first to be left out on a narrow terminal; 0: never
    note: str = ""  #: explanation for readers, below the board
    low_is_best: bool = False
    #: uses on the leaderboard, and in comparisons: `r` in tables for readers, `f` in files with a line for each row,
    #: `t` in files with a line for each row and task, `j` in JSON
    uses: tuple[str, str] = ("", "")

    @property
    def heading(self) -> str:
        """The heading for readers."""
        return self.key if self.title is None else self.title

    def is_shown(self, rows: Iterable[T]) -> bool:
        """Return whether tables for readers show the column on a board with these rows."""
        known = {value for value in map(self.value, rows) if value not in (None, "")}
        return len(known) > 1 if self.varying else bool(known) or not self.optional

    def shown(self, of: T) -> str:
        """Return the text of a cell for readers; `of` is a row, or a row's results on a task."""
        if self.text is not None:
            return self.text(of)
        value = self.value(of)
        if value is None:
            return "-"
        return decimal(value, self.digits) if self.type is float else str(value)


@dataclass(frozen=True)
class TaskColumn(Column[OnTask]):
    """A column of results on a task. A table with a line for each row has such a column for each task."""

    def key_on(self, task: str) -> str:
        """Return the key of the column of one task, such as `score:cifar10`."""
        return f"{self.key}:{task}"

    def on(self, task: str) -> Column[Row]:
        """Return the column for one task in a table of rows: it shows the row's result on the task."""
        heading = f"{self.heading} {task}" if self.heading else task
        return Column(
            self.key_on(task), lambda row: self.value(row.tasks[task]), self.type,
            lambda row: self.shown(row.tasks[task]), heading, self.kind, unit=self.unit, spare=self.spare,
            low_is_best=self.low_is_best,
        )  # fmt: skip


AnyColumn = Column[Row] | TaskColumn


def per_row(columns: Iterable[AnyColumn], tasks: Sequence[str]) -> list[Column[Row]]:
    """Return the columns of a table with a line for each row: a `TaskColumn` becomes a column for each task."""
    found: list[Column[Row]] = []
    for column in columns:
        found += map(column.on, tasks) if isinstance(column, TaskColumn) else [column]
    return found
