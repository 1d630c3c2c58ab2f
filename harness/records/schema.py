"""Creates the tables of a results database, or checks the version and the columns of existing tables."""

import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import sqlalchemy
from sqlalchemy import Column, MetaData, String, Table, exists, func, insert, literal, select
from sqlalchemy.engine import Connection
from sqlalchemy.schema import CreateIndex, CreateTable
from sqlalchemy.types import NullType

from harness.errors import UserError
from harness.records.connection import Database, ForbiddenError
from harness.records.evaluation import EVALUATIONS
from harness.records.tables import METADATA
from harness.shell import is_version
from harness.text import cut, printable

SCHEMA = 1  #: version of the tables that this program reads and writes
_NUMBER = re.compile(r"[1-9][0-9]{0,8}")  #: a valid version; SQLite could store anything in the column
SHOWN = 40  #: maximum number of characters of a version in a message
LISTED = 200  #: maximum number of characters of the names of another program's tables in a message

#: Table of one row with the version of all tables, as Alembic, a tool for migrations, uses it.
STAMP = Table("alembic_version", MetaData(), Column("version_num", String(32), primary_key=True))

CREATING = 7_413_020  #: key of PostgreSQL's advisory lock under which tables are created


def open_tables(database: Database, *, read_only: bool) -> None:
    """Create missing tables and indices, unless the database is `read_only`; then check all tables.

    Raise `UserError` for tables of another version or without a column, for a file of another program, and for a
    read-only database without tables.
    """
    with database.begin() as connection:
        is_new = not _has_tables(connection, database)
        if is_new and database.file is not None:
            _refuse_others(connection, database)
    if is_new and read_only:
        raise UserError("holds no records", file=database.name, remedy=database.filled)
    if is_new:
        with _changing(database) as connection:
            # The version comes first, since tables without it are refused. Another program may do the same now.
            connection.execute(CreateTable(STAMP, if_not_exists=True))
            row = select(literal(str(SCHEMA))).where(~exists(select(STAMP.c.version_num)))
            connection.execute(insert(STAMP).from_select(["version_num"], row))
    if not read_only:
        for table in METADATA.sorted_tables:
            with _changing(database) as connection:
                if not sqlalchemy.inspect(connection).has_table(table.name):  # the role may lack permission to create
                    connection.execute(CreateTable(table, if_not_exists=True))
    _require_columns(database)
    if not read_only:
        _create_indexes(database)


def _has_tables(connection: Connection, database: Database) -> bool:
    """Return whether a database has tables of records; raise `UserError` if they have another version."""
    tables = sqlalchemy.inspect(connection).get_table_names()
    query = select(func.substr(STAMP.c.version_num, 1, SHOWN, type_=NullType())).limit(2)
    stamps = [str(row[0]) for row in connection.execute(query)] if STAMP.name in tables else []
    if not stamps and EVALUATIONS.name not in tables:
        return False
    if len(stamps) != 1 or not _NUMBER.fullmatch(stamps[0]):
        found = printable(", ".join(stamps)) or "none"
        expected = "one number without leading zeros"
        raise UserError(
            "version of the tables", file=database.name, expected=expected, found=found, remedy=database.other
        )
    if int(stamps[0]) != SCHEMA:
        newest = select(EVALUATIONS.c.harness_version).order_by(EVALUATIONS.c.id.desc()).limit(1)
        wrote = connection.execute(newest).scalar()
        version = wrote if isinstance(wrote, str) and is_version(wrote) else "of the version that wrote it"
        remedy = f"install pgdl-harness {version} or a later one"
        raise UserError(
            "version of the tables", file=database.name, expected=SCHEMA, found=int(stamps[0]), remedy=remedy
        )
    return True


def _refuse_others(connection: Connection, database: Database) -> None:
    """Raise `UserError` if a file has tables, but none of a results database: the file belongs to another program."""
    others = sorted({*sqlalchemy.inspect(connection).get_table_names()} - {STAMP.name, *METADATA.tables})
    if others:
        found = cut(f"tables {', '.join(others)}", LISTED)
        raise UserError("another program's file", file=database.name, expected="a results file of pgdl", found=found,
                        remedy=database.other)  # fmt: skip


def _create_indexes(database: Database) -> None:
    """Create missing indices. Without the permission to create them, do nothing: they only make queries faster."""
    for table in METADATA.sorted_tables:
        with _changing(database) as connection:
            there = {index["name"] for index in sqlalchemy.inspect(connection).get_indexes(table.name)}
        for index in table.indexes:
            if index.name not in there:
                with suppress(ForbiddenError), _changing(database) as connection:
                    connection.execute(CreateIndex(index, if_not_exists=True))


def _require_columns(database: Database) -> None:
    with database.begin() as connection:
        inspector = sqlalchemy.inspect(connection)
        there = inspector.get_table_names()
        for table in METADATA.sorted_tables:
            if table.name not in there:
                raise UserError(f"no table {table.name}", file=database.name, remedy=database.other)
            found = {column["name"] for column in inspector.get_columns(table.name)}
            missing = sorted({str(column.key) for column in table.columns} - found)
            if missing:
                problem = f"table {table.name} lacks columns {', '.join(missing)}"
                raise UserError(problem, file=database.name, remedy=database.other)


@contextmanager
def _changing(database: Database) -> Iterator[Connection]:
    """Yield a connection in a transaction. On PostgreSQL, wait until no other program is creating tables."""
    with database.begin() as connection:
        if database.is_postgresql:  # if two programs create the same table at once, one of them fails
            connection.execute(select(func.pg_advisory_xact_lock(CREATING)))
        yield connection
