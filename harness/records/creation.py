"""Creates the tables of a database, or checks those that it has."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress

import sqlalchemy
from sqlalchemy import func, select
from sqlalchemy.engine import Connection
from sqlalchemy.schema import CreateIndex, CreateTable

from harness.errors import UserError
from harness.records.connection import Database, ForbiddenError
from harness.records.schema import SCHEMA, present, schema_of, stamp
from harness.records.tables import OTHER_DATABASE, Base

#: What to do where there are no records.
FIRST_RUN = f"run `pgdl run SUBMISSION` first, or {OTHER_DATABASE}"

#: Key of the lock under which tables are created, in databases that have such locks.
CREATING = 7_413_020


def open_tables(database: Database, *, read_only: bool) -> int:
    """Create the tables if there are none, unless `read_only`; returns their version."""
    with database.begin() as connection:
        schema = schema_of(connection, database.name)
    if schema is None and read_only:
        raise UserError("holds no records", file=database.name, remedy=FIRST_RUN)
    if not (read_only or schema in (None, SCHEMA)):
        remedy = "run `pgdl records upgrade` with the same --results; until then it can only be read"
        raise UserError("version of the tables", file=database.name, expected=SCHEMA, found=schema, remedy=remedy)
    if schema is None:
        schema = SCHEMA
        with _changing(database) as connection:
            stamp(connection)  # first: tables without a stamp are those of the first version
    if not read_only:
        _create_tables(database)
    _require_columns(database, schema)
    if not read_only:
        _create_indexes(database)
    return schema


def _create_tables(database: Database) -> None:
    """Create missing tables; a role without that permission can use a database that has them all."""
    for table in Base.metadata.sorted_tables:
        with _changing(database) as connection:
            if not sqlalchemy.inspect(connection).has_table(table.name):
                connection.execute(CreateTable(table, if_not_exists=True))


def _create_indexes(database: Database) -> None:
    """Create missing indices, if the role may: only the owner of a table may, and they only make questions faster."""
    for table in Base.metadata.sorted_tables:
        with _changing(database) as connection:
            there = {index["name"] for index in sqlalchemy.inspect(connection).get_indexes(table.name)}
        for index in table.indexes:
            if index.name not in there:
                with suppress(ForbiddenError), _changing(database) as connection:
                    connection.execute(CreateIndex(index, if_not_exists=True))


def _require_columns(database: Database, schema: int) -> None:
    """Raise `UserError` if the database is not one of this program."""
    with database.begin() as connection:
        inspector = sqlalchemy.inspect(connection)
        there = inspector.get_table_names()
        for table in Base.metadata.sorted_tables:
            if table.name not in there:
                raise UserError(f"no table {table.name}", file=database.name, remedy=OTHER_DATABASE)
            found = {column["name"] for column in inspector.get_columns(table.name)}
            missing = sorted({str(column.key) for column in present(table.columns, schema)} - found)
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
