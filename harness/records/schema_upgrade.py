"""Brings the tables of a database to the present version, after a copy."""

import os
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from sqlalchemy import event
from sqlalchemy.engine import Engine
from sqlalchemy.schema import CreateIndex

from harness.credentials import Address
from harness.errors import UserError, writing
from harness.records.connection import Database
from harness.records.schema import FIRST, SCHEMA, stamp
from harness.records.store import Records
from harness.records.tables import Base


@dataclass(frozen=True)
class Upgraded:
    """The versions before and after, and the copy of the file that was made first, if any."""

    name: str
    before: int
    after: int = SCHEMA
    copy: Path | None = None


def upgrade(location: Address | Path | str, *, copy: bool = True) -> Upgraded:
    """Bring the tables of a database to the present version: whole, or not at all.

    An SQLite file is copied first, to FILE.version-N, unless `copy` is false. A database on a server cannot be copied
    from here. Raises `UserError` if there is no such database, or if no copy can be made.
    """
    address = Address.of(location, "results")
    with Records(address, read_only=True) as records:
        before, file = records.schema, records.file
        if before == SCHEMA:
            return Upgraded(records.name, before)
        if copy and file is None:
            remedy = "copy it with the server's own tools, such as pg_dump, and then add --no-copy"
            raise UserError("a database on a server cannot be copied from here", file=records.name, remedy=remedy)
        kept = _copy(file, before) if copy and file is not None else None
    database = Database(address)
    with database.guard():
        _migrate(database.engine)
    database.engine.dispose()
    return Upgraded(database.name, before, copy=kept)


def _copy(file: Path, schema: int) -> Path:
    """Copy an SQLite file, also while others write to it; what is there under the final name is whole."""
    target = file.with_name(f"{file.name}.version-{schema}")
    if target.exists():
        raise UserError("already exists", file=target, remedy="move it away, and try again")
    part = target.with_name(f"{target.name}.part")
    with writing(part):
        part.unlink(missing_ok=True)
        try:
            with closing(sqlite3.connect(file)) as source, closing(sqlite3.connect(part)) as copied:
                source.backup(copied)
        except sqlite3.Error as error:
            raise UserError(f"cannot be copied: {error}", file=file) from error
        os.replace(part, target)  # noqa: PTH105 - both are paths of one directory
    return target


def _migrate(engine: Engine) -> None:
    from alembic import command  # here: only an upgrade needs it
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(files("harness.records.migrations")))
    if engine.dialect.name == "sqlite":
        event.listen(engine, "connect", _leave_transactions_to_us)
        event.listen(engine, "begin", lambda connection: connection.exec_driver_sql("BEGIN IMMEDIATE"))
        engine.dispose()  # its open connections have not heard that
    with engine.begin() as connection:
        config.attributes["connection"] = connection
        stamp(connection, FIRST)  # if there is none
        command.upgrade(config, "head")
        for table in Base.metadata.sorted_tables:
            for index in table.indexes:  # of today: an index changes no version
                connection.execute(CreateIndex(index, if_not_exists=True))


def _leave_transactions_to_us(connection: Any, _: Any) -> None:
    """Make changes of tables part of the transaction: Python's driver of SQLite begins none for them."""
    connection.isolation_level = None
