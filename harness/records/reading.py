"""Checks what the columns of an SQLite file hold: SQLite stores text and bytes in a column of numbers, too."""

import functools
from collections.abc import Sequence
from typing import Any

from sqlalchemy import JSON, Boolean, ColumnElement, Float, Integer, Select, and_, case, func, or_, select
from sqlalchemy.engine import Connection

from harness.errors import UserError
from harness.records.tables import UtcDateTime
from harness.text import printable

#: Characters of a wrong value that are shown.
SHOWN = 40


def require_types(connection: Connection, columns: Sequence[ColumnElement[Any]], rows: Select[int], name: str) -> None:
    """Raise `UserError` for the first value that is not of its column's type.

    Args:
        connection: of a database of any kind; only SQLite allows such values.
        columns: of one table, where to look.
        rows: `id`s of the rows to look at.
        name: of the file, for the message.
    """
    if connection.dialect.name != "sqlite":
        return
    table = columns[0].table
    fit = and_(*map(_fits, columns))
    row = connection.execute(select(table.c.id).where(table.c.id.in_(rows), ~fit)).scalar()
    if row is None:
        return
    for column in columns:
        wrong = select(func.quote(column)).where(table.c.id == row, ~_fits(column))
        found = connection.execute(wrong).scalar()
        if found is not None:
            where = f"{name}, table {table.description}, row {row}, column {column.name}"
            remedy = "name another database with --results"
            raise UserError(where, expected=_kind(column)[0], found=printable(found)[:SHOWN], remedy=remedy)


@functools.cache  # a board asks once per submission
def _fits(column: ColumnElement[Any]) -> ColumnElement[bool]:
    fits = func.ifnull(_kind(column)[1], False)
    return or_(column.is_(None), fits) if getattr(column, "nullable", False) else fits


def _kind(column: ColumnElement[Any]) -> tuple[str, ColumnElement[bool]]:
    """What a column holds, in words and as SQL that is true for it."""
    stored = func.typeof(column)
    if isinstance(column.type, UtcDateTime):
        day, time, rest = (func.substr(column, *part) for part in ((1, 10), (11, 9), (20,)))
        exists = and_(func.date(day, "+0 days") == day, func.strftime(" %H:%M:%S", func.trim(time)) == time)
        return "a time", and_(stored == "text", exists, rest.op("GLOB")("." + 6 * "[0-9]"))
    if isinstance(column.type, JSON):
        return "JSON", case((stored == "text", func.json_valid(column) == 1), else_=False)
    if isinstance(column.type, (Integer, Boolean)):
        return "an integer", stored == "integer"
    if isinstance(column.type, Float):
        return "a number", stored.in_(("real", "integer"))
    return "text", stored == "text"
