"""Common parts of the tables of the results database."""

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Boolean, DateTime, Dialect, Row, TypeDecorator
from sqlalchemy.orm import DeclarativeBase, MappedAsDataclass


class UtcDateTime(TypeDecorator[datetime]):
    """A time in UTC that every database returns with its time zone; SQLite would drop it."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Convert to UTC for storage."""
        return value.astimezone(UTC) if value is not None else None

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Return the stored time in UTC."""
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


class Flag(Boolean):
    """True or false; what else a database stores stays as it is, so that it can be refused."""

    def result_processor(self, dialect: Dialect, coltype: object) -> Any:
        """Return what converts a stored value."""
        return None if dialect.supports_native_boolean else _flag


def _flag(value: Any) -> Any:
    return bool(value) if type(value) is int and value in (0, 1) else value


#: What to do about a database that is none of the harness' own.
OTHER_DATABASE = "name another database with --results"


class Base(MappedAsDataclass, DeclarativeBase):
    """Tables of the results database."""


#: The `info` of a column with a digest, and of one with a word or name in printable ASCII.
DIGEST: dict[str, Any] = {"digest": True}
WORD: dict[str, Any] = {"word": True}


def longest(characters: int) -> dict[str, Any]:
    """Return the `info` of a column whose text has a limit."""
    return {"longest": characters}


def columns_of(row: Base | Row[Any]) -> dict[str, Any]:
    """Return the values of a row by column, without its number, which the database gives."""
    names = row._fields if isinstance(row, Row) else row.__table__.columns.keys()
    return {name: getattr(row, name) for name in names if name != "id"}
