"""SQL statements about any number of calls, although databases limit the number of parameters of a statement."""

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, TypeVar

from sqlalchemy import Select, cast, func, insert, literal, select
from sqlalchemy.dialects.postgresql import JSON
from sqlalchemy.engine import Connection

from harness.records.evaluation import EVALUATIONS, Evaluation
from harness.records.tables import columns_of

AT_ONCE = 500  #: largest number of rows in memory, and of keys as parameters of a statement

T = TypeVar("T")


def in_groups(items: Iterable[T]) -> Iterator[list[T]]:
    """Yield the items in lists of up to `AT_ONCE`, without reading further ahead."""
    remaining = iter(items)
    while group := list(islice(remaining, AT_ONCE)):
        yield group


def rows_of(connection: Connection, keys: Iterable[str]) -> Select[str]:
    """Return a query whose rows are the keys. In a statement with this query, all keys together are one parameter.

    Keys are in alphabetical order: all runs then lock rows in the same order, which prevents deadlocks.
    """
    text = literal(json.dumps(sorted(keys)))
    if connection.dialect.name == "sqlite":
        rows = func.json_each(text)
    else:
        rows = func.json_array_elements_text(cast(text, JSON))
    return select(rows.table_valued("value").c.value)


def newest_of_keys(query: Select[Any], keys: Collection[str]) -> Iterator[Select[Any]]:
    """Yield `query` for each group of up to `AT_ONCE` keys, restricted to the newest record of each key."""
    table = EVALUATIONS.c
    for group in in_groups(keys):
        newest = select(func.max(table.id)).where(table.key.in_(group)).group_by(table.key)
        yield query.where(table.id.in_(newest)).order_by(table.id)


def insert_missing(
    connection: Connection, records: Sequence[Evaluation], held: Collection[str] | None = None
) -> list[bool]:
    """Insert the records whose keys are in `held` (None: all). Return for each record whether the table now has it.

    If the answer to an earlier insertion was lost, the table already has the record, which is not inserted again.
    """
    table = EVALUATIONS.c
    same = select(table.key, table.started_at, table.finished_at)
    found = connection.execute(same.where(table.key.in_(rows_of(connection, {row.key for row in records}))))
    written = {tuple(row) for row in found}
    new, kept = [], []
    for row in records:
        is_there = (row.key, row.started_at, row.finished_at) in written
        is_held = held is None or row.key in held
        kept.append(is_there or is_held)
        if is_held and not is_there:
            new.append(columns_of(row))
    if new:
        connection.execute(insert(EVALUATIONS), new)
    return kept
