"""Finds the distinct combinations of an index's columns without reading all of its rows."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import CTE, ColumnElement, func, select

Columns = Sequence[ColumnElement[Any]]


def distinct_combinations(columns: Columns) -> CTE:
    """Return a query of the distinct combinations of the first columns of an index, none of which may be NULL.

    It goes from each value to the next larger one, so that it takes as many steps as there are combinations; a
    `DISTINCT` reads every row in most databases. Without the index it is right, but each step reads all rows.

    Source: "Loose indexscan", the wiki of PostgreSQL.
    """
    found: CTE | None = None
    for number in range(len(columns)):
        found = _with_next(found, columns[:number], columns[number])
    assert found is not None
    return found


def _with_next(before: CTE | None, known: Columns, column: ColumnElement[Any]) -> CTE:
    """Return the combinations of `known` with each value of one more column; `before` are those without it.

    Its rows with NULL in that column, where no larger value was found, are the last of each combination.
    """
    name = f"by_{column.name}"
    least = func.min(column)
    if before is None:
        walk = select(least.label(column.name)).cte(name, recursive=True)
    else:
        given = [before.c[one.name] for one in known]
        first = select(least).where(*(one == before.c[one.name] for one in known)).scalar_subquery()
        start = select(*given, first.label(column.name)).where(given[-1].is_not(None))
        walk = start.cte(name, recursive=True)
    same = [walk.c[one.name] for one in known]
    larger = [one == walk.c[one.name] for one in known] + [column > walk.c[column.name]]
    following = select(least).where(*larger).scalar_subquery()
    return walk.union_all(select(*same, following).where(walk.c[column.name].is_not(None)))
