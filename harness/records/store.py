"""The results database: what is written to it, and the questions that are asked of it."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

from sqlalchemy import ColumnElement, Executable, Row, func, insert, or_, select
from sqlalchemy.engine import Connection

from harness.configuration import configuration_from
from harness.credentials import Address
from harness.errors import UserError
from harness.records.claims import Claims
from harness.records.connection import Database
from harness.records.creation import FIRST_RUN, open_tables
from harness.records.evaluation import Evaluation
from harness.records.keys import chunks
from harness.records.request import Request
from harness.records.rows import ROWS_AT_ONCE, read
from harness.records.tables import OTHER_DATABASE, Base, columns_of
from harness.records.unwritten import add_unwritten
from harness.records.writer import Writer
from harness.text import printable

T = TypeVar("T")

#: Columns that may be long; not loaded for counting and scoring.
LONG = ("environment", "output_tail")


class Records:
    """The tables of one database; every row is on disk when the method that adds it returns.

    Raises `UserError` if the database cannot be opened, read or written; rows already written are kept.

    Attributes:
        file: the file of an SQLite database, None for others.
        name: of the database for readers, without passwords.
    """

    def __init__(self, location: Address | Path | str, *, read_only: bool = False) -> None:
        """`location` is an SQLAlchemy URL, or the path of an SQLite file.

        Opening a database `read_only` writes nothing, and it has to exist. Otherwise the tables are created if there
        are none.
        """
        self._database = Database(Address.of(location, "results"), read_only=read_only)
        self.file, self.name = self._database.file, self._database.name
        if read_only and self.file is not None and not self.file.exists():
            raise UserError("no such results file", file=self.name, remedy=FIRST_RUN)
        open_tables(self._database, read_only=read_only)

    @property
    def warn(self) -> Callable[[str], None]:
        """Receives a line when something has to wait; may be called from several threads."""
        return self._database.warn

    @warn.setter
    def warn(self, warn: Callable[[str], None]) -> None:
        self._database.warn = warn

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._database.engine.dispose()

    def add(self, *evaluations: Evaluation) -> None:
        """Write rows: all of them or none."""
        self._insert(Evaluation, evaluations)

    def ask(self, requests: Iterable[Request]) -> None:
        """Record the requests of a run."""
        self._insert(Request, requests)

    def requests(self) -> list[Row[Any]]:
        """Return the last request of every version, task and configuration that was asked here, and all merged ones.

        They are in the order of their rows.
        """
        same = (Request.submission, Request.submission_digest, Request.task, Request.configuration, Request.source)
        newest = select(func.max(Request.id)).where(Request.merged_at.is_(None)).group_by(*same)
        chosen = or_(Request.id.in_(newest), Request.merged_at.is_not(None))
        query = select(*Request.__table__.columns).where(chosen).order_by(Request.id)
        with self._database.begin() as connection:
            found = list(self._read(connection, query, Request))
        for request in found:
            self._require_settings(request)
        return found

    def _require_settings(self, request: Row[Any]) -> None:
        try:
            configuration_from(request.settings)
        except ValueError as error:
            where = f"{self.name}, table requests, row {request.id}, settings"
            what, found = "not the settings of a run", printable(str(error))
            raise UserError(what, file=where, found=found, remedy=OTHER_DATABASE) from error

    def add_unwritten(self) -> None:
        """Add the records of earlier runs that this database did not take; says so to `warn`."""
        add_unwritten(self._database)

    def claims(self) -> Claims:
        """Return a context in which this run claims calls."""
        return Claims(self._database)

    def writer(self, claims: Claims | None) -> Writer:
        """Return a context that writes the records of a run, of calls under its `claims`; None: of all calls."""
        return Writer(self._database, claims)

    def patiently(self, work: Callable[[], T]) -> T:
        """Do something with these records, and for ten minutes again if the database fails, as in a running run."""
        return self._database.patiently(work)

    def ended(self, keys: Collection[str]) -> list[Row[Any]]:
        """Return key, outcome, call_wall_s and call_cpu_s of the newest record of each key that has one."""
        table = Evaluation.__table__.columns
        columns = [table.key, table.outcome, table.call_wall_s, table.call_cpu_s]
        return list(self._with_keys(columns, keys))

    def newest(self, keys: Collection[str]) -> Iterator[Row[Any]]:
        """Yield the newest record of each key, without the columns of `LONG`."""
        yield from self._with_keys(short_columns(), keys)

    def newest_of(
        self, *conditions: ColumnElement[bool], only: Sequence[ColumnElement[bool]] = (), long: bool = False
    ) -> Iterator[Row[Any]]:
        """Yield the newest record of each key, oldest first.

        Args:
            conditions: choose keys, by columns that are the same in all records of a key.
            only: conditions that the newest record has to meet, such as on its outcome.
            long: whether to add the columns of `LONG`.
        """
        columns = list(Evaluation.__table__.columns) if long else short_columns()
        newest = select(func.max(Evaluation.id)).where(*conditions).group_by(Evaluation.key)
        rows = select(*columns).where(Evaluation.id.in_(newest), *only).order_by(Evaluation.id)
        with self._database.begin() as connection:
            yield from self._read(connection.execution_options(yield_per=ROWS_AT_ONCE), rows)

    def rows(self, query: Executable) -> list[Row[Any]]:
        """Return the rows of a query of the records, whose columns have their names."""
        with self._database.begin() as connection:
            if self._database.is_postgresql:  # which may spend a second on compiling what then takes milliseconds
                connection.execute(select(func.set_config("jit", "off", True)))
            return list(self._read(connection, query))

    def output_tails(self, keys: Collection[str]) -> dict[str, str]:
        """Return the end of the output of the newest record of each key."""
        table = Evaluation.__table__.columns
        return {row.key: row.output_tail for row in self._with_keys([table.key, table.output_tail], keys)}

    def distinct(self, column: str) -> list[str]:
        """Return the distinct values of a column, in alphabetical order."""
        chosen = Evaluation.__table__.columns[column]
        with self._database.begin() as connection:
            return [row[0] for row in self._read(connection, select(chosen).distinct().order_by(chosen))]

    def _with_keys(self, columns: Sequence[ColumnElement[Any]], keys: Collection[str]) -> Iterator[Row[Any]]:
        """Query through the index, a few hundred keys at a time: the table may be thousands of times as long."""
        with self._database.begin() as connection:
            for part in chunks(list(keys)):
                newest = select(func.max(Evaluation.id)).where(Evaluation.key.in_(part)).group_by(Evaluation.key)
                rows = select(*columns).where(Evaluation.id.in_(newest)).order_by(Evaluation.id)
                yield from self._read(connection, rows)

    def _read(self, connection: Connection, query: Executable, kind: type[Base] = Evaluation) -> Iterator[Row[Any]]:
        return read(connection, query, kind, self.name)

    def _insert(self, kind: type[Base], rows: Iterable[Base]) -> None:
        given = [columns_of(row) for row in rows]
        if given:
            self._database.write(lambda connection: connection.execute(insert(kind), given))


def short_columns() -> Sequence[ColumnElement[Any]]:
    """Return the columns of a record except those of `LONG`."""
    return [column for column in Evaluation.__table__.columns if column.name not in LONG]
