"""A board as data: rows in their order, columns that describe them, and the calls behind them."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

from harness.board.rounding import DECIMALS
from harness.board.row import Row
from harness.board.scores import decimal, official
from scoring import Entry, rank

#: Numbers are aligned to the right; a name is text that nothing may change; text of several words may be wrapped.
Kind = Literal["number", "name", "text", "words"]


@dataclass(frozen=True)
class Column:
    """One column of a board.

    Attributes:
        name: the heading, or for programs the key.
        value: what a row has there: text for readers; for programs text, a number or None.
        kind: how it is set.
    """

    name: str
    value: Callable[[Row], Any]
    kind: Kind = "number"


@dataclass(frozen=True)
class Board(ABC):
    """Some submissions on some tasks, best first.

    Attributes:
        rows: the submissions.
        tasks: names of the tasks, in the order of their columns.
        remarks: what must be said beside the rows because of the records and tasks they are made from.
    """

    rows: Sequence[Row]
    tasks: Sequence[str]
    remarks: Sequence[str] = ()

    #: Stands above the board where a format has a title.
    title: ClassVar[str]

    #: What is said of each task where there is a line per row and task, of `harness.board.per_task.FIGURES`.
    per_task: ClassVar[Sequence[str]]

    @property
    @abstractmethod
    def columns(self) -> Sequence[Column]:
        """What readers see; every value is text."""

    @property
    @abstractmethod
    def figures(self) -> Sequence[Column]:
        """What programs read, a line per row, with all digits."""

    @property
    @abstractmethod
    def identity(self) -> Sequence[Column]:
        """What tells the rows apart where there is a line per row and task."""

    @property
    @abstractmethod
    def notes(self) -> list[str]:
        """What a reader must know beside the numbers, a line each."""

    @property
    @abstractmethod
    def content(self) -> Any:
        """All of it, as lists and objects of JSON."""

    @abstractmethod
    def is_faint(self, row: Row) -> bool:
        """Whether the row is no full participant, and may be set fainter than others."""

    @property
    def headings(self) -> list[str]:
        """The titles of the columns."""
        return [column.name for column in self.columns]

    def cells(self, row: Row) -> list[str]:
        """Return a row as readers see it."""
        return [column.value(row) for column in self.columns]


def rank_rows(rows: Iterable[Row], may_rank: Callable[[Row], bool]) -> list[Row]:
    """Return the rows in the order of a board, each with its rank."""
    given = list(rows)
    entries = [Entry(row.submission, row.score, row.complete, may_rank(row)) for row in given]
    of = {id(entry): row for entry, row in zip(entries, given, strict=True)}  # rows of one submission are called alike
    return [replace(of[id(ranked.entry)], rank=ranked.rank) for ranked in rank(entries)]


def rank_column() -> Column:
    """The rank, for readers."""
    return Column("rank", lambda row: "-" if row.rank is None else str(row.rank))


def score_columns(tasks: Sequence[str]) -> list[Column]:
    """The final score and the official one of each task, for readers."""
    total = Column("score", lambda row: decimal(row.score, DECIMALS if row.rounded else 2))
    return [total, *map(_task_column, tasks)]


def _task_column(task: str) -> Column:
    return Column(task, lambda row: official(row.tasks[task].result, DECIMALS if row.tasks[task].withheld else 2))
