"""Any number of keys as one parameter of a statement; databases limit the number of parameters."""

import json
from collections.abc import Iterable

from sqlalchemy import Select, cast, func, literal, select
from sqlalchemy.dialects.postgresql import JSON
from sqlalchemy.engine import Connection


def rows_of(connection: Connection, keys: Iterable[str]) -> Select[str]:
    """Return a query of the keys, in alphabetical order, so that runs which lock the same rows wait for each other."""
    text = literal(json.dumps(sorted(keys)))
    if connection.dialect.name == "sqlite":
        rows = func.json_each(text)
    else:
        rows = func.json_array_elements_text(cast(text, JSON))
    return select(rows.table_valued("value").c.value)
