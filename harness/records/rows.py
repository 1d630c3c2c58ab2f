"""Turns rows into objects, and refuses a row that the harness would not write, naming its place.

SQLite stores any value in any column, and a server's columns have types, but no bounds. Python tests a row in a third
of the time that SQL needs.
"""

from collections.abc import Iterator, Sequence
from dataclasses import fields
from typing import Any, TypeVar

from sqlalchemy import Executable, Row, Select, Table, select, type_coerce
from sqlalchemy.engine import Connection
from sqlalchemy.types import NullType

from harness.errors import UserError
from harness.records.row_rules import Rule, fit_together, rule_of
from harness.records.tables import OTHER_DATABASE, Stored
from harness.text import printable

#: Number of rows in memory at once; each has up to 16 KB of output.
ROWS_AT_ONCE = 100

#: Maximum number of shown characters of a wrong value.
SHOWN = 40

#: Errors of the conversion of a stored value.
_CANNOT_BE_CONVERTED = (ValueError, TypeError, OverflowError, RecursionError)


S = TypeVar("S", bound=Stored)


def select_of(kind: type[Stored], table: Table) -> Select[Any]:
    """Return a query of the columns of a class, whose rows `read_as` takes."""
    return select(*(table.c[one.name] for one in fields(kind)))


def read_as(kind: type[S], connection: Connection, query: Select[Any], table: Table, name: str) -> Iterator[S]:
    """Yield the rows of a query of `select_of` as objects of their class; other parameters are as for `read`."""
    for number, *columns in read(connection, query, table, name):
        yield kind(*columns, id=number)


def read(connection: Connection, query: Executable, table: Table, name: str) -> Iterator[Sequence[Any]]:
    """Yield the rows of a query of columns of a table under their names, and possibly other columns.

    `name` names the database. Raises `UserError` if a row has a value that the harness would not write.
    """
    result = connection.execute(query)
    names = list(result.keys())
    rules = [(i, rule_of(table.c[column])) for i, column in enumerate(names) if column in table.c]
    of_calls = [names.index(column) for column in ("outcome", "value") if {"outcome", "value"} <= set(names)]
    while True:
        try:
            rows = result.fetchmany(ROWS_AT_ONCE)
            fit = _fit(rows, rules, of_calls)
        except _CANNOT_BE_CONVERTED:
            fit = False
        if not fit:
            raise _first_wrong(connection, table, name)
        if not rows:
            return
        yield from rows


def _fit(rows: Sequence[Row[Any]], rules: Sequence[tuple[int, Rule]], of_calls: Sequence[int]) -> bool:
    """Whether the harness could have written the rows; `of_calls` has the positions of outcome and value, if any."""
    columns = list(zip(*rows, strict=True))
    if rows and of_calls and not all(map(fit_together, *(columns[i] for i in of_calls))):
        return False
    return not rows or all(all(map(rule.holds, rule.different(columns[i]))) for i, rule in rules)


def _first_wrong(connection: Connection, table: Table, name: str) -> UserError:
    """Return an error that names the first value of the table that the harness would not write."""
    columns = list(table.columns)
    stored = [type_coerce(column, NullType()).label(column.name) for column in columns]  # not converted
    streamed = connection.execution_options(yield_per=ROWS_AT_ONCE)
    for row in streamed.execute(select(*stored).order_by(table.c.id)):
        for column, value in zip(columns, row, strict=True):
            if not (rule := rule_of(column)).holds(value):
                where = f"{name}, table {table.name}, row {_shown(row.id)}, column {column.name}"
                return _wrong(where, rule.words, value)
        if "outcome" in table.c and not fit_together(row.outcome, row.value):
            words = "a number" if row.value is None else f"none, because the outcome is {row.outcome}"
            return _wrong(f"{name}, table {table.name}, row {_shown(row.id)}, column value", words, row.value)
    return UserError(f"table {table.name} is not as pgdl writes it", file=name, remedy=OTHER_DATABASE)


def _wrong(where: str, expected: str, value: object) -> UserError:
    return UserError(
        where, expected=expected, found="nothing" if value is None else _shown(value), remedy=OTHER_DATABASE
    )


def _shown(value: object) -> str:
    return printable(repr(value))[:SHOWN]
