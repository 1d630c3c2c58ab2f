"""Creates the tables of a database, or checks those that it has."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress

import sqlalchemy
from sqlalchemy import func, select
from sqlalchemy.engine import Connection
from sqlalchemy.schema import CreateIndex, CreateTable

from harness.errors import UserError
from harness.records.connection import Database, ForbiddenError
from harness.records.schema import has_tables, stamp
from harness.records.tables import METADATA, OTHER_DATABASE

#: What to do where there are no records.
FIRST_RUN = f"run `pgdl run SUBMISSION` first, or {OTHER_DATABASE}"

#: Key of the lock under which tables are created, in databases that have such locks.
CREATING = 7_413_020


def open_tables(database: Database, *, read_only: bool) -> None:
    """Create the tables if there are none, unless `read_only`."""
    with database.begin() as connection:
        is_new = not has_tables(connection, database.name)
    if is_new and read_only:
        raise UserError("holds no records", file=database.name, remedy=FIRST_RUN)
    if is_new:
        with _changing(database) as connection:
            stamp(connection)  # first: tables without a stamp are refused
    if not read_only:
        _create_tables(database)
    _require_columns(database)
    if not read_only:
        _create_indexes(database)


def _create_tables(database: Database) -> None:
    """Create missing tables; a role without that permission can use a database that has them all."""
    for table in METADATA.sorted_tables:
        with _changing(database) as connection:
            if not sqlalchemy.inspect(connection).has_table(table.name):
                connection.execute(CreateTable(table, if_not_exists=True))


def _create_indexes(database: Database) -> None:
    """Create missing indices, if the role may: only the owner of a table may, and they only make questions faster."""
    for table in METADATA.sorted_tables:
        with _changing(database) as connection:
            there = {index["name"] for index in sqlalchemy.inspect(connection).get_indexes(table.name)}
        for index in table.indexes:
            if index.name not in there:
                with suppress(ForbiddenError), _changing(database) as connection:
                    connection.execute(CreateIndex(index, if_not_exists=True))


def _require_columns(database: Database) -> None:
    """Raise `UserError` if the database is not one of this program."""
    with database.begin() as connection:
        inspector = sqlalchemy.inspect(connection)
        there = inspector.get_table_names()
        for table in METADATA.sorted_tables:
            if table.name not in there:
                raise UserError(f"no table {table.name}", file=database.name, remedy=OTHER_DATABASE)
            found = {column["name"] for column in inspector.get_columns(table.name)}
            missing = sorted({str(column.key) for column in table.columns} - found)
            if missing:
                problem = f"table {table.name} lacks columns {', '.join(missing)}"
                raise UserError(problem, file=database.name, remedy=OTHER_DATABASE)


@contextmanager
def _changing(database: Database) -> Iterator[Connection]:
    """A transaction in which tables are changed, by one harness at a time."""
    with database.begin() as connection:
        if database.is_postgresql:  # it fails if two create the same table at once
            connection.execute(select(func.pg_advisory_xact_lock(CREATING)))
        yield connection
