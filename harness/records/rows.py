"""Turns rows into objects, and refuses rows with values that the harness would not write.

SQLite stores any value in any column, and PostgreSQL checks types, but no bounds. Python tests a row in a third of the
time that SQL needs.
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

#: Number of rows in memory at once; a row has up to 16 KB of output.
ROWS_AT_ONCE = 100

#: Maximum number of characters of a wrong value in a message.
SHOWN = 40

S = TypeVar("S", bound=Stored)


def select_of(kind: type[Stored], table: Table) -> Select[Any]:
    """Return a query of all fields of the class `kind`; `read_as` turns its rows into objects."""
    return select(*(table.c[one.name] for one in fields(kind)))


def read_as(kind: type[S], connection: Connection, query: Select[Any], table: Table, name: str) -> Iterator[S]:
    """Yield the rows of a query of `select_of` as objects of the class `kind`; for other parameters see `read`."""
    for number, *columns in read(connection, query, table, name):
        yield kind(*columns, id=number)


def read(connection: Connection, query: Executable, table: Table, name: str) -> Iterator[Sequence[Any]]:
    """Yield the rows of a query. A column with the name of a column of `table` must follow the rule of that column.

    Raises `UserError` for a value that the harness would not write; `name` is the database, for the message.
    """
    result = connection.execute(query)
    names = list(result.keys())
    rules = [(i, rule_of(table.c[column])) for i, column in enumerate(names) if column in table.c]
    pair = [names.index("outcome"), names.index("value")] if {"outcome", "value"} <= set(names) else []
    while True:
        try:
            rows = result.fetchmany(ROWS_AT_ONCE)
            fit = _fit(rows, rules, pair)
        except (ValueError, TypeError, OverflowError, RecursionError):  # a value that SQLAlchemy cannot convert
            fit = False
        if not fit:
            raise _first_wrong(connection, table, name)
        if not rows:
            return
        yield from rows


def _fit(rows: Sequence[Row[Any]], rules: Sequence[tuple[int, Rule]], pair: Sequence[int]) -> bool:
    """Whether all rows follow the rules (position, rule); `pair` has the positions of outcome and value, if any."""
    if not rows:
        return True
    columns = list(zip(*rows, strict=True))
    if pair and not all(map(fit_together, *(columns[i] for i in pair))):
        return False
    return all(all(map(rule.holds, rule.different(columns[i]))) for i, rule in rules)


def _first_wrong(connection: Connection, table: Table, name: str) -> UserError:
    """Return an error that names row and column of the first value of a table that the harness would not write."""
    columns, where = list(table.columns), f"{name}, table {table.name}"
    stored = [type_coerce(column, NullType()).label(column.name) for column in columns]  # without conversion
    streamed = connection.execution_options(yield_per=ROWS_AT_ONCE)
    for row in streamed.execute(select(*stored).order_by(table.c.id)):
        for column, value in zip(columns, row, strict=True):
            if not (rule := rule_of(column)).holds(value):
                return _wrong(f"{where}, row {_shown(row.id)}, column {column.name}", rule.words, value)
        if "outcome" in table.c and not fit_together(row.outcome, row.value):
            words = "a number" if row.value is None else f"none, because the outcome is {row.outcome}"
            return _wrong(f"{where}, row {_shown(row.id)}, column value", words, row.value)
    return UserError(f"table {table.name} is not as pgdl writes it", file=name, remedy=OTHER_DATABASE)


def _wrong(where: str, expected: str, value: object) -> UserError:
    found = "nothing" if value is None else _shown(value)
    return UserError(where, expected=expected, found=found, remedy=OTHER_DATABASE)


def _shown(value: object) -> str:
    return printable(repr(value))[:SHOWN]
