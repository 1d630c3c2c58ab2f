"""The type of a board's columns, which `columns` and `rankings` define."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar

from harness.board.on_task import OnTask
from harness.board.row import Row

#: Numbers are aligned to the right, places too, but not on pages; a name is text that must stay unchanged; words may be
#: wrapped.
Kind = Literal["number", "place", "name", "text", "words"]

T = TypeVar("T")


@dataclass(frozen=True)
class Column(Generic[T]):
    """One column of a board, of whole rows (`Row`) or of their results on a task (`OnTask`).

    Attributes:
        key: identifies the column on its board, and heads it in files for programs. Tasks may be named like any other
            column, so that headings may be equal; keys never are.
        value: text, a number or None: the value for programs, by which pages sort.
        type: of the values.
        text: the text for readers; by default the value with `digits` decimals, or a dash for None.
        title: heading for readers, if it differs from the key.
        kind: how the column is formatted.
        unit: of numbers.
        optional: left out for readers where no row has a value.
        varying: left out for readers where all rows have the same value.
        spare: if a terminal is too narrow, columns with the largest `spare` are left out first, then those with the
            next; columns with 0 always stay.
        note: explanation of the column for readers, below the board.
        low_is_best: whether the smallest number is the best; of text, and of most numbers, it is not.
    """

    key: str
    value: Callable[[T], Any]
    type: type = float
    text: Callable[[T], str] | None = None
    title: str | None = None
    kind: Kind = "number"
    digits: int = 2
    unit: str = ""
    optional: bool = False
    varying: bool = False
    spare: int = 0
    note: str = ""
    low_is_best: bool = False

    @property
    def heading(self) -> str:
        """The heading for readers."""
        return self.key if self.title is None else self.title

    def is_shown(self, rows: Iterable[T]) -> bool:
        """Whether readers of these rows need the column."""
        known = {value for value in map(self.value, rows) if value not in (None, "")}
        return len(known) > 1 if self.varying else bool(known) or not self.optional

    def shown(self, of: T) -> str:
        """Return the text of a row's cell for readers."""
        if self.text is not None:
            return self.text(of)
        value = self.value(of)
        if value is None:
            return "-"
        return f"{value:.{self.digits}f}" if self.type is float else str(value)


@dataclass(frozen=True)
class TaskColumn(Column[OnTask]):
    """A column for each task of a board; in files with a line per row and task, one column."""

    def key_on(self, task: str) -> str:
        """Return the key of the column of one task."""
        return f"{self.key}:{task}"

    def on(self, task: str) -> Column[Row]:
        """Return the column of one task."""
        heading = f"{self.heading} {task}" if self.heading else task
        return Column(
            self.key_on(task), lambda row: self.value(row.tasks[task]), self.type,
            lambda row: self.shown(row.tasks[task]), heading, self.kind, unit=self.unit, spare=self.spare,
            low_is_best=self.low_is_best,
        )  # fmt: skip


AnyColumn = Column[Row] | TaskColumn


def per_row(columns: Iterable[AnyColumn], tasks: Sequence[str]) -> list[Column[Row]]:
    """Return the columns of a table with a line per row: one for each task in place of a `TaskColumn`."""
    found: list[Column[Row]] = []
    for column in columns:
        found += map(column.on, tasks) if isinstance(column, TaskColumn) else [column]
    return found


def per_task(columns: Iterable[AnyColumn], row: Row, task: str) -> dict[str, Any]:
    """Return the values of a line of a table with a line per row and task, by key."""
    on_task = row.tasks[task]
    return {one.key: one.value(on_task) if isinstance(one, TaskColumn) else one.value(row) for one in columns}
