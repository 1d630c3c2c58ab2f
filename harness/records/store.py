"""The results database: SQLite by default, or any SQLAlchemy URL (PostgreSQL)."""

import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self, TypeVar
from urllib.parse import unquote

import sqlalchemy
from sqlalchemy import URL, ColumnElement, Row, func, insert, or_, select
from sqlalchemy.engine import Connection, Engine
from sqlalchemy.exc import DBAPIError, IntegrityError, SAWarning, SQLAlchemyError
from sqlalchemy.orm import InstrumentedAttribute
from sqlalchemy.schema import CreateIndex, CreateTable

from harness.configuration import configuration_from
from harness.credentials import scrub, without_secrets
from harness.errors import UserError
from harness.records.claims import Claims, chunks
from harness.records.evaluation import Evaluation
from harness.records.request import Request
from harness.records.schema import SCHEMA, present, readable, schema_of, stamp
from harness.records.stored_types import require_types
from harness.records.tables import Base, columns_of

#: Seconds that a writer waits while another harness writes to the same file.
BUSY_S = 60

#: Rows in memory at once while all are read; each has up to 16 KB of output.
ROWS_AT_ONCE = 500

#: Columns that may be long; not loaded for counting and scoring.
LONG = ("environment", "output_tail")


#: What to do where there are no records.
FIRST_RUN = "run `pgdl run SUBMISSION` first, or name another database with --results"

#: Key of the lock under which tables are created, in databases that have such locks.
CREATING = 7_413_020

T = TypeVar("T")


class LockedError(UserError):
    """Another program reads or writes an SQLite file for longer than `BUSY_S`."""


class EndedCall(NamedTuple):
    """The columns of a recorded call that a run needs."""

    key: str
    outcome: str
    call_wall_s: float
    call_cpu_s: float


class Records:
    """The tables of one database; every row is on disk when the method that adds it returns.

    Raises `UserError` if the database cannot be opened, read or written; rows already written are kept.

    Attributes:
        schema: version of its tables.
        file: the file of an SQLite database, None for others.
        name: of the database for readers, without passwords.
        warn: receives a line when a write has to wait.
    """

    def __init__(self, location: str, *, read_only: bool = False) -> None:
        """`location` is an SQLAlchemy URL, or the path of an SQLite file.

        Opening a database `read_only` writes nothing: it has to exist, and may be of an earlier version. Otherwise the
        tables are created if there are none, and must be of the present version.
        """
        shown = without_secrets(location)
        try:
            url = sqlalchemy.make_url(location) if "://" in location else URL.create("sqlite", database=location)
            self._engine = _engine_of(url)
        except ImportError as error:
            remedy = f"install the driver, e.g. pip install {error.name or 'psycopg[binary]'}"
            raise UserError(f"the database's driver cannot be loaded: {error}", remedy=remedy) from error
        except SAWarning:
            remedy = "leave it out; parameters of SQLite itself need file: and uri=true"
            raise UserError("SQLite's driver knows no such parameter", file=shown, remedy=remedy) from None
        except (SQLAlchemyError, ValueError):
            expected = "sqlite:///FILE or postgresql+psycopg://..."
            raise UserError("not a database URL", file=shown, expected=expected) from None
        self.file = _file_of(url)
        self.name = without_secrets(url.database) if self.file is not None and url.database else shown
        self._location = location
        self.warn: Callable[[str], None] = lambda _: None
        if read_only and self.file is not None and not self.file.exists():
            raise UserError("no such results file", file=self.name, remedy=FIRST_RUN)
        self.schema = self._open(read_only)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._engine.dispose()

    def add(self, *evaluations: Evaluation) -> None:
        """Write rows: all of them or none."""
        self._insert(Evaluation, evaluations)

    def ask(self, requests: Iterable[Request]) -> None:
        """Record the requests of a run."""
        self._insert(Request, requests)

    def requests(self) -> list[Request]:
        """Return the last request of every version, task and configuration that was asked here, and all merged ones.

        They are in the order of their rows.
        """
        same = (Request.submission, Request.submission_digest, Request.task, Request.configuration, Request.source)
        newest = select(func.max(Request.id)).where(Request.merged_at.is_(None)).group_by(*same)
        chosen = or_(Request.id.in_(newest), Request.merged_at.is_not(None))
        columns = list(Request.__table__.columns)
        with self._begin() as connection:
            require_types(connection, present(columns, self.schema), select(Request.id).where(chosen), self.name)
            rows = select(*readable(columns, self.schema)).where(chosen).order_by(Request.id)
            found = [_request(**row) for row in connection.execute(rows).mappings()]
        for request in found:
            self._require_settings(request)
        return found

    def _require_settings(self, request: Request) -> None:
        try:
            configuration_from(request.settings)
        except ValueError as error:
            where = f"{self.name}, table requests, row {request.id}, settings"
            remedy = "name another database with --results"
            raise UserError("not the settings of a run", file=where, found=str(error), remedy=remedy) from error

    def claims(self) -> Claims:
        """Return a context in which this run claims calls."""
        return Claims(self._write)

    def ended(self, keys: Collection[str]) -> list[EndedCall]:
        """Return outcome and times of the newest record of each key that has one."""
        table = Evaluation.__table__.columns
        columns = [table.key, table.outcome, table.call_wall_s, table.call_cpu_s]
        rows = self._with_keys(columns, keys)
        return [EndedCall(row.key, row.outcome, row.call_wall_s, row.call_cpu_s) for row in rows]

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
        chosen = select(Evaluation.id).where(Evaluation.id.in_(newest), *only)
        with self._begin() as connection:
            require_types(connection, present(columns, self.schema), chosen, self.name)
            rows = select(*readable(columns, self.schema)).where(Evaluation.id.in_(chosen)).order_by(Evaluation.id)
            yield from connection.execution_options(yield_per=ROWS_AT_ONCE).execute(rows)

    def combinations(
        self, *columns: InstrumentedAttribute[Any], where: Sequence[ColumnElement[bool]]
    ) -> list[Row[Any]]:
        """Return the distinct combinations of some columns among the records that meet all conditions."""
        with self._begin() as connection:
            return list(connection.execute(select(*columns).where(*where).distinct()))

    def output_tails(self, keys: Collection[str]) -> dict[str, str]:
        """Return the end of the output of the newest record of each key."""
        table = Evaluation.__table__.columns
        return {row.key: row.output_tail for row in self._with_keys([table.key, table.output_tail], keys)}

    def distinct(self, column: str) -> list[str]:
        """Return the distinct values of a column, in alphabetical order."""
        chosen = Evaluation.__table__.columns[column]
        with self._begin() as connection:
            return list(connection.execute(select(chosen).distinct().order_by(chosen)).scalars())

    def _with_keys(self, columns: Sequence[ColumnElement[Any]], keys: Collection[str]) -> Iterator[Row[Any]]:
        """Query through the index, a few hundred keys at a time: the table may be thousands of times as long."""
        with self._begin() as connection:
            for part in chunks(list(keys)):
                newest = select(func.max(Evaluation.id)).where(Evaluation.key.in_(part)).group_by(Evaluation.key)
                require_types(connection, present(columns, self.schema), newest, self.name)
                rows = select(*readable(columns, self.schema)).where(Evaluation.id.in_(newest)).order_by(Evaluation.id)
                yield from connection.execute(rows)

    def _insert(self, kind: type[Base], rows: Iterable[Base]) -> None:
        given = [columns_of(row) for row in rows]
        if given:
            self._write(lambda connection: connection.execute(insert(kind), given))

    def _write(self, work: Callable[[Connection], T]) -> T:
        """Do something in one transaction, as soon as no reader keeps the file of an SQLite database locked."""
        told = False
        while True:
            try:
                with self._begin() as connection:
                    return work(connection)
            except LockedError:
                if not told:
                    self.warn(f"{self.name} has been locked for {BUSY_S} s by another program; waiting for it")
                told = True

    def change_tables(self, change: Callable[[Engine], None]) -> None:
        """Let `change` work on the engine, with errors as those of a read or write."""
        with self._guard():
            change(self._engine)

    def _open(self, read_only: bool) -> int:
        """Create the tables if there are none, unless `read_only`; returns their version."""
        with self._begin() as connection:
            schema = schema_of(connection, self.name)
        if schema is None and read_only:
            raise UserError("holds no records", file=self.name, remedy=FIRST_RUN)
        if not (read_only or schema in (None, SCHEMA)):
            remedy = "run `pgdl records upgrade` with the same --results; until then it can only be read"
            raise UserError("version of the tables", file=self.name, expected=SCHEMA, found=schema, remedy=remedy)
        if schema is None:
            schema = SCHEMA
            with self._changing() as connection:
                stamp(connection)  # first: tables without a stamp are those of the first version
        for table in () if read_only else Base.metadata.sorted_tables:
            with self._changing() as connection:
                connection.execute(CreateTable(table, if_not_exists=True))
        self._require_columns(schema)
        for table in () if read_only else Base.metadata.sorted_tables:
            with self._changing() as connection:
                for index in table.indexes:
                    connection.execute(CreateIndex(index, if_not_exists=True))
        return schema

    def _require_columns(self, schema: int) -> None:
        """Raise `UserError` if the database is not one of this program."""
        with self._begin() as connection:
            inspector = sqlalchemy.inspect(connection)
            for table in Base.metadata.sorted_tables:
                found = {column["name"] for column in inspector.get_columns(table.name)}
                missing = sorted({str(column.key) for column in present(table.columns, schema)} - found)
                if missing:
                    problem = f"table {table.name} lacks columns {', '.join(missing)}"
                    raise UserError(problem, file=self.name, remedy="name another database with --results")

    @contextmanager
    def _changing(self) -> Iterator[Connection]:
        """A transaction in which tables are changed."""
        with self._begin() as connection:
            self._one_at_a_time(connection)
            yield connection

    def _one_at_a_time(self, connection: Connection) -> None:
        """Wait until no other harness creates tables: PostgreSQL fails if two create the same one at once."""
        if connection.dialect.name == "postgresql":
            connection.execute(select(func.pg_advisory_xact_lock(CREATING)))

    @contextmanager
    def _begin(self) -> Iterator[Connection]:
        with self._guard(), self._engine.begin() as connection:
            yield connection

    @contextmanager
    def _guard(self) -> Iterator[None]:
        """Turn errors that a user can fix (full disk, wrong file, unreachable server) into one line."""
        try:
            yield
        except IntegrityError:
            raise  # not a failure of the database: `Claims` tries again
        except DBAPIError as error:
            reason = scrub(" ".join(str(error.orig).split()), self._location)
            if reason == "database is locked":
                raise LockedError(reason, file=self.name) from error
            remedy = "finished work is kept; fix this and run the same command again"
            raise UserError(f"the results database failed: {reason}", file=self.name, remedy=remedy) from error


def _request(id: int, **columns: Any) -> Request:
    request = Request(**columns)
    request.id = id
    return request


def _file_of(url: URL) -> Path | None:
    if url.get_backend_name() != "sqlite" or not url.database:
        return None
    return Path(unquote(url.database.removeprefix("file:")) if "uri" in url.query else url.database)


def _engine_of(url: URL) -> Engine:
    """Return the engine of a database; raises `SAWarning` for parameters that SQLite's driver would ignore."""
    arguments = {"timeout": BUSY_S} if url.get_backend_name() == "sqlite" else {}
    with warnings.catch_warnings():
        warnings.simplefilter("error", SAWarning)
        return sqlalchemy.create_engine(url, connect_args=arguments)


def short_columns() -> Sequence[ColumnElement[Any]]:
    """Return the columns of a record except those of `LONG`."""
    return [column for column in Evaluation.__table__.columns if column.name not in LONG]
