"""Executes SQL statements for changes that no run would make."""

from typing import Any

from sqlalchemy import create_engine, text


def execute(location: str, *statements: str, **parameters: Any) -> list[Any]:
    """Execute statements in one transaction; return the rows of the last statement."""
    engine = create_engine(location if "://" in location else f"sqlite:///{location}")
    with engine.begin() as connection:
        results = [connection.execute(text(statement), parameters) for statement in statements]
        found = list(results[-1]) if results[-1].returns_rows else []
    engine.dispose()
    return found
