"""The version of a database's tables.

A later version only adds tables, and columns that have a default. So every version can be read: a column that a
database lacks has its default in all rows.
"""

import re
from collections.abc import Iterable
from typing import Any

import sqlalchemy
from sqlalchemy import Column, ColumnElement, MetaData, String, Table, exists, func, insert, literal, select
from sqlalchemy.engine import Connection
from sqlalchemy.schema import CreateTable
from sqlalchemy.types import NullType

from harness.errors import UserError
from harness.records.evaluation import Evaluation
from harness.shell import is_version
from harness.text import printable

#: The present version; each later than the first has its step in `migrations/versions`.
SCHEMA = 2

#: The version of databases that have tables, but no stamp.
FIRST = 1

#: A version of the tables, and one of the harness; SQLite stores anything in a column.
_NUMBER = re.compile(r"[1-9][0-9]{0,8}")

#: Characters of a stamp that are read.
SHOWN = 40

#: The stamp: Alembic's own table, of one row.
STAMP = Table("alembic_version", MetaData(), Column("version_num", String(32), primary_key=True))


def schema_of(connection: Connection, name: str) -> int | None:
    """Return the version of a database's tables, None if it has none; raises `UserError` for one that is not known."""
    tables = sqlalchemy.inspect(connection).get_table_names()
    query = select(func.substr(STAMP.c.version_num, 1, SHOWN, type_=NullType())).limit(2)
    stamps = [str(row[0]) for row in connection.execute(query)] if STAMP.name in tables else []
    if not stamps:
        return FIRST if Evaluation.__tablename__ in tables else None
    if len(stamps) > 1 or not _NUMBER.fullmatch(stamps[0]):
        found = printable(", ".join(stamps))
        raise UserError("version of the tables", file=name, expected="one number", found=found)
    _require_known(connection, int(stamps[0]), name)
    return int(stamps[0])


def stamp(connection: Connection, version: int = SCHEMA) -> None:
    """Stamp a database with a version, unless it has a stamp: another harness may just have made it."""
    connection.execute(CreateTable(STAMP, if_not_exists=True))
    row = select(literal(str(version))).where(~exists(select(STAMP.c.version_num)))
    connection.execute(insert(STAMP).from_select(["version_num"], row))


def _require_known(connection: Connection, schema: int, name: str) -> None:
    if schema > SCHEMA:
        newest = select(Evaluation.harness_version).order_by(Evaluation.id.desc()).limit(1)
        wrote = connection.execute(newest).scalar()
        version = wrote if isinstance(wrote, str) and is_version(wrote) else "of the version that wrote it"
        remedy = f"install pgdl-harness {version} or a later one"
        raise UserError("version of the tables", file=name, expected=f"at most {SCHEMA}", found=schema, remedy=remedy)


def present(columns: Iterable[ColumnElement[Any]], schema: int) -> list[ColumnElement[Any]]:
    """Return those of the columns that a database of this version has."""
    return [column for column in columns if _since(column) <= schema]


def readable(columns: Iterable[ColumnElement[Any]], schema: int) -> list[ColumnElement[Any]]:
    """Return the columns, with the default in place of those that a database of this version lacks."""
    return [column if _since(column) <= schema else _default(column) for column in columns]


def _since(column: Any) -> int:
    return int(column.info.get("since", FIRST))


def _default(column: Any) -> ColumnElement[Any]:
    return literal(column.server_default.arg, column.type).label(column.name)
