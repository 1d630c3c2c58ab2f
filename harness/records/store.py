"""The results database: methods that add, find and delete records and requests."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import starmap
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from sqlalchemy import ColumnElement, Executable, Table, delete, func, insert, or_, select
from sqlalchemy.engine import Connection

from harness.credentials import Address
from harness.errors import UserError
from harness.records.connection import Database
from harness.records.evaluation import EVALUATIONS, REQUESTS, Evaluation, Record, Request
from harness.records.keys import in_groups, newest_of_keys
from harness.records.rows import ROWS_AT_ONCE, read, read_as, select_of
from harness.records.schema import open_tables
from harness.records.tables import Stored, columns_of

T = TypeVar("T")
R = TypeVar("R", bound=Record)
S = TypeVar("S", bound=Stored)


class EndedCall(NamedTuple):
    """The columns of a record that decide whether a run makes the call again."""

    key: str
    outcome: str
    call_wall_s: float
    call_cpu_s: float


class Records(Database):
    """A results database. A method that adds rows returns when they are on disk; failures raise `UserError`."""

    def __init__(self, location: Address | Path | str, *, read_only: bool = False, option: str = "--results") -> None:
        """Open a database by its SQLAlchemy URL or the path of its SQLite file, and create missing tables.

        A `read_only` database must exist, and cannot be changed. Messages name `option` as the source of the location.
        """
        super().__init__(Address.of(location, "results"), read_only=read_only, option=option)
        if read_only and self.file is not None and not self.file.exists():
            raise UserError("no such results file", file=self.name, remedy=self.filled)
        open_tables(self, read_only=read_only)

    @staticmethod
    def file_at(location: Address | Path | str) -> Path | None:
        """Return the path of an SQLite database, without opening it; None for PostgreSQL."""
        return Database(Address.of(location, "results")).file

    def add(self, *evaluations: Evaluation) -> None:
        """Write records of calls in a single transaction."""
        self._insert(EVALUATIONS, evaluations)

    def ask(self, requests: Iterable[Request]) -> None:
        """Write the requests of a run in a single transaction."""
        self._insert(REQUESTS, requests)

    def requests(self) -> list[Request]:
        """Return the requests that decide which rows a board shows, oldest first.

        Requests that were merged from other databases are all returned. Of the database's own requests that agree in
        submission, version, path, task and configuration, only the last is returned.
        """
        table = REQUESTS.c
        same = (table.submission, table.submission_digest, table.task, table.configuration, table.source)
        newest = select(func.max(table.id)).where(table.merged_at.is_(None)).group_by(*same)
        chosen = or_(table.id.in_(newest), table.merged_at.is_not(None))
        query = select_of(Request, REQUESTS).where(chosen).order_by(table.id)
        with self.begin() as connection:
            return list(read_as(Request, connection, query, REQUESTS, self))

    def ended(self, keys: Collection[str]) -> list[EndedCall]:
        """Return the columns of `EndedCall` from the newest record of each key that has a record."""
        return list(starmap(EndedCall, self._columns_of(EndedCall._fields, keys)))

    def newest(self, keys: Collection[str]) -> Iterator[Record]:
        """Yield the newest record of each key that has a record, in any order."""
        with self.begin() as connection:
            for query in newest_of_keys(select_of(Record, EVALUATIONS), keys):
                yield from read_as(Record, connection, query, EVALUATIONS, self)

    def newest_of(self, *conditions: ColumnElement[bool]) -> Iterator[Record]:
        """Yield the newest record of every call among the records that meet the conditions; older records come first.

        Conditions may use only columns in which all records of a call are equal.
        """
        return self._newest_of(Record, conditions, ())

    def whole_of(
        self, *conditions: ColumnElement[bool], only: Sequence[ColumnElement[bool]] = ()
    ) -> Iterator[Evaluation]:
        """Yield those records of `newest_of` that also meet the conditions `only`, with all columns.

        In contrast to `conditions`, the conditions `only` may use any column.
        """
        return self._newest_of(Evaluation, conditions, only)

    def _newest_of(
        self, kind: type[R], conditions: Iterable[ColumnElement[bool]], only: Iterable[ColumnElement[bool]]
    ) -> Iterator[R]:
        newest = select(func.max(EVALUATIONS.c.id)).where(*conditions).group_by(EVALUATIONS.c.key)
        chosen = select_of(kind, EVALUATIONS).where(EVALUATIONS.c.id.in_(newest), *only).order_by(EVALUATIONS.c.id)
        with self.begin() as connection:
            streamed = connection.execution_options(yield_per=ROWS_AT_ONCE)
            yield from read_as(kind, streamed, chosen, EVALUATIONS, self)

    def all_of(self, submission: str) -> tuple[list[Evaluation], list[Request]]:
        """Return all records and requests of a submission, not only the newest record of each call."""
        with self.begin() as connection:
            evaluations = self._all_rows(Evaluation, EVALUATIONS, submission, connection)
            return evaluations, self._all_rows(Request, REQUESTS, submission, connection)

    def _all_rows(self, kind: type[S], table: Table, submission: str, connection: Connection) -> list[S]:
        chosen = select_of(kind, table).where(table.c.submission == submission).order_by(table.c.id)
        return list(read_as(kind, connection, chosen, table, self))

    def delete(self, *rows: Evaluation | Request) -> None:
        """Delete rows that were read from this database, in a single transaction."""

        def work(connection: Connection) -> None:
            for kind, table in ((Evaluation, EVALUATIONS), (Request, REQUESTS)):
                for group in in_groups(row.id for row in rows if isinstance(row, kind)):
                    connection.execute(delete(table).where(table.c.id.in_(group)))

        self.write(work)

    def rows(self, query: Executable) -> list[Sequence[Any]]:
        """Return the rows of a query on records. Raise `UserError` for a value that the harness would not write."""
        with self.begin() as connection:
            if self.is_postgresql:  # the server may take a second to compile a query that runs for milliseconds
                connection.execute(select(func.set_config("jit", "off", True)))
            return list(read(connection, query, EVALUATIONS, self))

    def output_tails(self, keys: Collection[str]) -> dict[str, str]:
        """Return key -> end of the submission's output, from the newest record of each key that has a record."""
        return dict(map(tuple, self._columns_of(("key", "output_tail"), keys)))

    def distinct(self, column: str) -> list[str]:
        """Return the distinct values of a column of the table `evaluations`, in alphabetical order."""
        chosen = EVALUATIONS.c[column]
        return [row[0] for row in self.rows(select(chosen).distinct().order_by(chosen))]

    def _columns_of(self, names: Iterable[str], keys: Collection[str]) -> Iterator[Sequence[Any]]:
        with self.begin() as connection:
            for query in newest_of_keys(select(*(EVALUATIONS.c[name] for name in names)), keys):
                yield from read(connection, query, EVALUATIONS, self)

    def _insert(self, table: Table, rows: Iterable[Stored]) -> None:
        given = [columns_of(row) for row in rows]
        if given:
            self.write(lambda connection: connection.execute(insert(table), given))
