"""A board as data: ranked rows, the columns that describe them, and the calls behind them."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

from harness.board.rounding import DECIMALS
from harness.board.row import Row
from harness.board.scores import decimal, official
from scoring import Entry, rank

#: Numbers are aligned to the right; a name is text that must stay unchanged; words may be wrapped.
Kind = Literal["number", "name", "text", "words"]


@dataclass(frozen=True)
class Column:
    """One column of a board.

    Attributes:
        key: identifies the column on its board, and heads it in files for programs. Tasks may be named like any other
            column, so that headings may be equal; keys never are.
        value: returns a row's value: text for readers; for programs text, a number or None.
        kind: how the column is formatted.
        title: its heading, if that is not the key.
    """

    key: str
    value: Callable[[Row], Any]
    kind: Kind = "number"
    title: str | None = None

    @property
    def heading(self) -> str:
        """The heading for readers."""
        return self.key if self.title is None else self.title


@dataclass(frozen=True)
class Board(ABC):
    """Submissions on tasks, best first.

    Attributes:
        rows: the submissions.
        tasks: names of the tasks, in the order of their columns.
        remarks: notes on the records and tasks behind the rows, one per line.
        withheld: the tasks of which only rounded scores are shown.
    """

    rows: Sequence[Row]
    tasks: Sequence[str]
    remarks: Sequence[str] = ()
    withheld: frozenset[str] = frozenset()

    #: The title, for formats that have one.
    title: ClassVar[str]

    #: Keys of `harness.board.per_task.FIGURES`, for formats with a line per row and task.
    per_task: ClassVar[Sequence[str]]

    #: Numbers of a whole row, for formats with a line per row and task: name -> type, and a function that returns them.
    whole: ClassVar[Mapping[str, tuple[type, Callable[[Row], Any]]]] = {}

    @property
    @abstractmethod
    def columns(self) -> Sequence[Column]:
        """Columns for readers; every value is text."""

    @property
    @abstractmethod
    def figures(self) -> Sequence[Column]:
        """Columns for programs, with all digits."""

    @property
    @abstractmethod
    def identity(self) -> Sequence[Column]:
        """Columns that identify a row, for formats with a line per row and task."""

    @property
    @abstractmethod
    def notes(self) -> list[str]:
        """Explanations of the numbers for readers, one per line."""

    @property
    @abstractmethod
    def content(self) -> Any:
        """The whole board, as JSON lists and objects."""

    @abstractmethod
    def is_faint(self, row: Row) -> bool:
        """Whether the row does not fully compete, and may be printed fainter than others."""

    @property
    def headings(self) -> list[str]:
        """The titles of the columns."""
        return [column.heading for column in self.columns]

    def to_records(self) -> list[dict[str, Any]]:
        """Return a dictionary for each row, with all digits, as a `pandas.DataFrame` takes them."""
        figures = self.figures
        return [{column.key: column.value(row) for column in figures} for row in self.rows]

    def cells(self, row: Row) -> list[str]:
        """Return the text of a row's cells, for readers."""
        return [column.value(row) for column in self.columns]


def rank_rows(rows: Iterable[Row], may_rank: Callable[[Row], bool]) -> list[Row]:
    """Return the rows, best first, each with its rank."""
    given = list(rows)
    entries = [Entry(row.submission, row.score, row.complete, may_rank(row)) for row in given]
    rows_by_entry = {id(entry): row for entry, row in zip(entries, given, strict=True)}  # names may repeat
    return [replace(rows_by_entry[id(ranked.entry)], rank=ranked.rank) for ranked in rank(entries)]


def rank_column() -> Column:
    """Return the column of the rank, for readers."""
    return Column("rank", lambda row: "-" if row.rank is None else str(row.rank))


def score_columns(tasks: Sequence[str], after_total: Sequence[Column] = ()) -> list[Column]:
    """Return the columns of the final score and of each task's official score, for readers."""
    total = Column("score", lambda row: decimal(row.score, DECIMALS if row.rounded else 2))
    return [total, *after_total, *map(_task_column, tasks)]


def task_figure(task: str) -> Column:
    """Return the column of a task's official score, with all digits, for programs."""
    return Column(score_key(task), lambda row: row.tasks[task].official)


def score_key(task: str) -> str:
    """Return the key of the column of a task's official score."""
    return f"score:{task}"


def _task_column(task: str) -> Column:
    def text(row: Row) -> str:
        return official(row.tasks[task].result, DECIMALS if row.tasks[task].withheld else 2)

    return Column(score_key(task), text, title=task)
