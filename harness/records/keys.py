"""Statements with any number of keys: as a single parameter or in parts, since databases limit parameters."""

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

from sqlalchemy import Select, cast, func, literal, select
from sqlalchemy.dialects.postgresql import JSON
from sqlalchemy.engine import Connection

from harness.records.evaluation import EVALUATIONS, Evaluation

#: Maximum number of keys as separate parameters of a statement.
CHUNK = 500


def rows_of(connection: Connection, keys: Iterable[str]) -> Select[str]:
    """Return a query whose rows are the keys, for use in other statements.

    Keys are in alphabetical order, so that runs which lock the same rows wait for each other without a deadlock.
    """
    text = literal(json.dumps(sorted(keys)))
    if connection.dialect.name == "sqlite":
        rows = func.json_each(text)
    else:
        rows = func.json_array_elements_text(cast(text, JSON))
    return select(rows.table_valued("value").c.value)


def newest_of_keys(query: Select[Any], keys: Collection[str]) -> Iterator[Select[Any]]:
    """Yield variants of `query` for the newest records of up to `CHUNK` keys each, which the index of keys answers."""
    table = EVALUATIONS.c
    listed = list(keys)
    for start in range(0, len(listed), CHUNK):
        part = table.key.in_(listed[start : start + CHUNK])
        newest = select(func.max(table.id)).where(part).group_by(table.key)
        yield query.where(table.id.in_(newest)).order_by(table.id)


def are_there(connection: Connection, records: Sequence[Evaluation]) -> list[bool]:
    """Return for each record whether the table has it: an earlier try may have written it although it failed."""
    table = EVALUATIONS.c
    same = select(table.key, table.started_at, table.finished_at)
    found = connection.execute(same.where(table.key.in_(rows_of(connection, {row.key for row in records}))))
    written = {tuple(row) for row in found}
    return [(row.key, row.started_at, row.finished_at) in written for row in records]
