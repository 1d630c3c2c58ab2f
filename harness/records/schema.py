"""The version of a database's tables."""

import re

import sqlalchemy
from sqlalchemy import Column, MetaData, String, Table, exists, func, insert, literal, select
from sqlalchemy.engine import Connection
from sqlalchemy.schema import CreateTable
from sqlalchemy.types import NullType

from harness.errors import UserError
from harness.records.evaluation import EVALUATIONS
from harness.records.tables import OTHER_DATABASE
from harness.shell import is_version
from harness.text import printable

#: The present version, whose step is in `migrations/versions`.
SCHEMA = 1

#: A version of the tables; SQLite stores anything in a column.
_NUMBER = re.compile(r"[1-9][0-9]{0,8}")

#: Characters of a stamp that are read.
SHOWN = 40

#: The stamp: Alembic's own table, of one row.
STAMP = Table("alembic_version", MetaData(), Column("version_num", String(32), primary_key=True))


def has_tables(connection: Connection, name: str) -> bool:
    """Whether a database has tables; raises `UserError` if their version is not the present one."""
    tables = sqlalchemy.inspect(connection).get_table_names()
    query = select(func.substr(STAMP.c.version_num, 1, SHOWN, type_=NullType())).limit(2)
    stamps = [str(row[0]) for row in connection.execute(query)] if STAMP.name in tables else []
    if not stamps and EVALUATIONS.name not in tables:
        return False
    if len(stamps) != 1 or not _NUMBER.fullmatch(stamps[0]):
        found = printable(", ".join(stamps)) or "none"
        raise UserError("version of the tables", file=name, expected="one number", found=found, remedy=OTHER_DATABASE)
    _require_known(connection, int(stamps[0]), name)
    return True


def stamp(connection: Connection) -> None:
    """Stamp a database, unless it has a stamp: another harness may just have made it."""
    connection.execute(CreateTable(STAMP, if_not_exists=True))
    row = select(literal(str(SCHEMA))).where(~exists(select(STAMP.c.version_num)))
    connection.execute(insert(STAMP).from_select(["version_num"], row))


def _require_known(connection: Connection, schema: int, name: str) -> None:
    if schema != SCHEMA:
        newest = select(EVALUATIONS.c.harness_version).order_by(EVALUATIONS.c.id.desc()).limit(1)
        wrote = connection.execute(newest).scalar()
        version = wrote if isinstance(wrote, str) and is_version(wrote) else "of the version that wrote it"
        remedy = f"install pgdl-harness {version} or a later one"
        raise UserError("version of the tables", file=name, expected=SCHEMA, found=schema, remedy=remedy)
