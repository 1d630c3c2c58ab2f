"""Creates the tables of a database and stamps them with their version, or checks existing tables."""

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
from harness.records.tables import METADATA, OTHER_DATABASE
from harness.shell import is_version
from harness.text import printable

#: The version of the tables that this program reads and writes.
SCHEMA = 1

#: A version as text; a column of SQLite may hold any other value.
_NUMBER = re.compile(r"[1-9][0-9]{0,8}")

#: Maximum number of characters of a version in a message.
SHOWN = 40

#: The stamp, a table of one row: the version of the tables. Alembic, a tool for migrations, uses the same table.
STAMP = Table("alembic_version", MetaData(), Column("version_num", String(32), primary_key=True))

#: Remedy for a database without records.
FIRST_RUN = f"run `pgdl run SUBMISSION` first, or {OTHER_DATABASE}"

#: Key of PostgreSQL's advisory lock under which tables are created.
CREATING = 7_413_020


def open_tables(database: Database, *, read_only: bool) -> None:
    """Check the tables of a database, after creating missing tables and indices unless it is `read_only`."""
    with database.begin() as connection:
        is_new = not _has_tables(connection, database.name)
    if is_new and read_only:
        raise UserError("holds no records", file=database.name, remedy=FIRST_RUN)
    if is_new:
        with _changing(database) as connection:
            # First, since tables without a stamp are refused. Another program may stamp the database at the same time.
            connection.execute(CreateTable(STAMP, if_not_exists=True))
            row = select(literal(str(SCHEMA))).where(~exists(select(STAMP.c.version_num)))
            connection.execute(insert(STAMP).from_select(["version_num"], row))
    if not read_only:
        for table in METADATA.sorted_tables:
            with _changing(database) as connection:
                if not sqlalchemy.inspect(connection).has_table(table.name):  # a role may lack permission
                    connection.execute(CreateTable(table, if_not_exists=True))
    _require_columns(database)
    if not read_only:
        _create_indexes(database)


def _has_tables(connection: Connection, name: str) -> bool:
    """Whether a database has the tables of records; raises `UserError` if they have another version."""
    tables = sqlalchemy.inspect(connection).get_table_names()
    query = select(func.substr(STAMP.c.version_num, 1, SHOWN, type_=NullType())).limit(2)
    stamps = [str(row[0]) for row in connection.execute(query)] if STAMP.name in tables else []
    if not stamps and EVALUATIONS.name not in tables:
        return False
    if len(stamps) != 1 or not _NUMBER.fullmatch(stamps[0]):
        found = printable(", ".join(stamps)) or "none"
        raise UserError("version of the tables", file=name, expected="one number", found=found, remedy=OTHER_DATABASE)
    if int(stamps[0]) != SCHEMA:
        newest = select(EVALUATIONS.c.harness_version).order_by(EVALUATIONS.c.id.desc()).limit(1)
        wrote = connection.execute(newest).scalar()
        version = wrote if isinstance(wrote, str) and is_version(wrote) else "of the version that wrote it"
        remedy = f"install pgdl-harness {version} or a later one"
        raise UserError("version of the tables", file=name, expected=SCHEMA, found=int(stamps[0]), remedy=remedy)
    return True


def _create_indexes(database: Database) -> None:
    """Create missing indices if the user's role may: they only make queries faster."""
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
                raise UserError(f"no table {table.name}", file=database.name, remedy=OTHER_DATABASE)
            found = {column["name"] for column in inspector.get_columns(table.name)}
            missing = sorted({str(column.key) for column in table.columns} - found)
            if missing:
                problem = f"table {table.name} lacks columns {', '.join(missing)}"
                raise UserError(problem, file=database.name, remedy=OTHER_DATABASE)


@contextmanager
def _changing(database: Database) -> Iterator[Connection]:
    """Yield a connection in a transaction that changes tables; PostgreSQL lets one program do so at a time."""
    with database.begin() as connection:
        if database.is_postgresql:  # two programs cannot create the same table at once
            connection.execute(select(func.pg_advisory_xact_lock(CREATING)))
        yield connection
