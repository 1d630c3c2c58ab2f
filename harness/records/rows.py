"""Turns rows of the database into objects, and refuses values that the harness would not write."""

from collections.abc import Iterator, Sequence
from dataclasses import fields
from typing import Any, TypeVar

from sqlalchemy import Executable, Row, Select, Table, select, type_coerce
from sqlalchemy.engine import Connection
from sqlalchemy.types import NullType

from harness.errors import UserError
from harness.records.connection import Database, uncounted
from harness.records.row_rules import Agreement, Rule, agreements_of, rule_of
from harness.records.tables import Stored
from harness.text import printable

ROWS_AT_ONCE = 100  #: number of rows in memory at once; a row has up to 16 KB of output
SHOWN = 40  #: maximum number of characters of a wrong value in a message

S = TypeVar("S", bound=Stored)


def select_of(kind: type[Stored], table: Table) -> Select[Any]:
    """Return a query for all columns of `table` that are fields of the class `kind`."""
    return select(*(table.c[one.name] for one in fields(kind)))


def read_as(kind: type[S], connection: Connection, query: Select[Any], table: Table, database: Database) -> Iterator[S]:
    """Yield the rows of a query, made by `select_of`, as objects of the class `kind`. Errors are as for `read`."""
    for number, *columns in read(connection, query, table, database):
        yield kind(*columns, id=number)


def read(connection: Connection, query: Executable, table: Table, database: Database) -> Iterator[Sequence[Any]]:
    """Yield the rows of a query. Raise `UserError` for a value that breaks its column's rule in `table`."""
    result = connection.execute(query)
    names = list(result.keys())
    rules = [(i, rule_of(table.c[column])) for i, column in enumerate(names) if column in table.c]
    agreements = [([names.index(name) for name in (one.column, *one.others)], one) for one in agreements_of(names)]
    while True:
        try:
            rows = result.fetchmany(ROWS_AT_ONCE)
            fit = _fit(rows, rules, agreements)
        except (ValueError, TypeError, OverflowError, RecursionError):  # a value that SQLAlchemy cannot convert
            fit = False
        if not fit:
            raise _first_wrong(connection, table, database)
        if not rows:
            return
        with uncounted(connection):  # whoever uses the rows may take any time
            yield from rows


def _fit(
    rows: Sequence[Row[Any]], rules: Sequence[tuple[int, Rule]], agreements: Sequence[tuple[Sequence[int], Agreement]]
) -> bool:
    if not rows:
        return True
    columns = list(zip(*rows, strict=True))
    if not all(all(map(rule.holds, rule.different(columns[i]))) for i, rule in rules):
        return False
    different = ((set(zip(*(columns[i] for i in places), strict=True)), one) for places, one in agreements)
    return not any(one.expected(*values) for several, one in different for values in several)


def _first_wrong(connection: Connection, table: Table, database: Database) -> UserError:
    columns, where = list(table.columns), f"{database.name}, table {table.name}"
    stored = [type_coerce(column, NullType()).label(column.name) for column in columns]  # without conversion
    streamed = connection.execution_options(yield_per=ROWS_AT_ONCE)
    for row in streamed.execute(select(*stored).order_by(table.c.id)):
        for column, value in zip(columns, row, strict=True):
            if not (rule := rule_of(column)).holds(value):
                return _wrong(f"{where}, row {_shown(row.id)}, column {column.name}", rule.words, value, database.other)
        for one in agreements_of(table.c.keys()):
            value, others = row._mapping[one.column], [row._mapping[name] for name in one.others]
            if words := one.expected(value, *others):
                return _wrong(f"{where}, row {_shown(row.id)}, column {one.column}", words, value, database.other)
    return UserError(f"table {table.name} is not as pgdl writes it", file=database.name, remedy=database.other)


def _wrong(where: str, expected: str, value: object, remedy: str) -> UserError:
    found = "nothing" if value is None else _shown(value)
    return UserError(where, expected=expected, found=found, remedy=remedy)


def _shown(value: object) -> str:
    return printable(repr(value))[:SHOWN]
