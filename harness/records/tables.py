"""Types and functions from which the tables of the results database are made."""

from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from types import NoneType
from typing import Any, get_args, get_type_hints

from sqlalchemy import Boolean, Column, DateTime, Dialect, Index, Integer, MetaData, Table, TypeDecorator


class UtcDateTime(TypeDecorator[datetime]):
    """A time, returned by every database in UTC with its time zone, although SQLite stores no time zone."""

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
    """A truth value. SQLite may hold any other value: it is returned unchanged, so that `row_rules` refuses it."""

    def result_processor(self, dialect: Dialect, coltype: object) -> Any:
        """Return the function that converts a stored value; None for PostgreSQL, which stores truth values."""
        return None if dialect.supports_native_boolean else _flag


def _flag(value: Any) -> Any:
    return bool(value) if type(value) is int and value in (0, 1) else value


#: Remedy for a database of another program.
OTHER_DATABASE = "name another database with --results"

#: The tables of the results database.
METADATA = MetaData()


@dataclass(frozen=True, slots=True)
class Stored:
    """A row of a table; the fields of a subclass are the columns of its table, in their order."""

    id: int = field(default=0, kw_only=True, compare=False)  #: number of the row, which the database assigns


def table_of(name: str, kind: type[Stored], *indices: Index) -> Table:
    """Return the table for a subclass of `Stored`; a column may be empty if its field may be None."""
    columns: list[Column[Any]] = [Column("id", Integer, primary_key=True, comment="Number of the row.")]
    for column_name, hint in get_type_hints(kind, include_extras=True).items():
        if column_name != "id":
            (column,) = hint.__metadata__
            column.name = column.key = column_name
            column.nullable = NoneType in get_args(hint.__origin__)
            columns.append(column)
    return Table(name, METADATA, *columns, *indices)


#: The `info` of a column with a digest, and of a column with text in printable ASCII, for `row_rules`.
DIGEST: dict[str, Any] = {"digest": True}
WORD: dict[str, Any] = {"word": True}


def longest(characters: int) -> dict[str, Any]:
    """Return the `info` of a column whose text has a maximum number of characters, for `row_rules`."""
    return {"longest": characters}


def columns_of(row: Stored) -> dict[str, Any]:
    """Return column -> value of a row, for an insertion; `id` is left out, since the database assigns it."""
    return {one.name: getattr(row, one.name) for one in fields(row) if one.name != "id"}
