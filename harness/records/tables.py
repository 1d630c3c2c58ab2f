"""Building blocks of the tables of the results database: column types, and tables from dataclasses."""

from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from types import NoneType
from typing import Any, get_args, get_type_hints

from sqlalchemy import Boolean, Column, DateTime, Dialect, Index, Integer, MetaData, Table, TypeDecorator


class UtcDateTime(TypeDecorator[datetime]):
    """A column type for times, which are returned in UTC with a time zone, although SQLite stores no time zone."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Return the time in UTC, for storage."""
        return value.astimezone(UTC) if value is not None else None

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Return the stored time in UTC."""
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


class Flag(Boolean):
    """A column type for truth values. Other values in SQLite are returned unchanged; `row_rules` refuses them."""

    def result_processor(self, dialect: Dialect, coltype: object) -> Any:
        """Return the function that converts stored values, or None for PostgreSQL, which stores truth values."""
        return None if dialect.supports_native_boolean else _flag


def _flag(value: Any) -> Any:
    return bool(value) if type(value) is int and value in (0, 1) else value


METADATA = MetaData()  #: the tables of the results database


@dataclass(frozen=True, slots=True)
class Stored:
    """A row of a table. The fields of a subclass are the columns of its table."""

    id: int = field(default=0, kw_only=True, compare=False)  #: number of the row; the database assigns it


def table_of(name: str, kind: type[Stored], *indices: Index) -> Table:
    """Return a table with a column for each field of `kind`; the column is nullable if the field may be None."""
    columns: list[Column[Any]] = [Column("id", Integer, primary_key=True, comment="Number of the row.")]
    for column_name, hint in get_type_hints(kind, include_extras=True).items():
        if column_name != "id":
            (column,) = hint.__metadata__
            column.name = column.key = column_name
            column.nullable = NoneType in get_args(hint.__origin__)
            columns.append(column)
    return Table(name, METADATA, *columns, *indices)


#: `Column.info` of a column that holds a digest, and of a column that holds printable ASCII text; see `row_rules`.
DIGEST: dict[str, Any] = {"digest": True}
WORD: dict[str, Any] = {"word": True}


def longest(characters: int) -> dict[str, Any]:
    """Return the `Column.info` that limits the text of a column to a number of characters; see `row_rules`."""
    return {"longest": characters}


def columns_of(row: Stored) -> dict[str, Any]:
    """Return column -> value of a row, without `id`, which the database assigns."""
    return {one.name: getattr(row, one.name) for one in fields(row) if one.name != "id"}
