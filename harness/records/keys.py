"""Any number of keys in statements, although databases limit the number of parameters: as one, or a part at a time."""

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar

from sqlalchemy import Select, cast, func, literal, select
from sqlalchemy.dialects.postgresql import JSON
from sqlalchemy.engine import Connection

T = TypeVar("T")

#: Keys per statement.
CHUNK = 500


def chunks(keys: Sequence[T]) -> Iterator[Sequence[T]]:
    """Split keys into parts that fit into one statement."""
    for start in range(0, len(keys), CHUNK):
        yield keys[start : start + CHUNK]


def rows_of(connection: Connection, keys: Iterable[str]) -> Select[str]:
    """Return a query of the keys, in alphabetical order, so that runs which lock the same rows wait for each other."""
    text = literal(json.dumps(sorted(keys)))
    if connection.dialect.name == "sqlite":
        rows = func.json_each(text)
    else:
        rows = func.json_array_elements_text(cast(text, JSON))
    return select(rows.table_valued("value").c.value)
